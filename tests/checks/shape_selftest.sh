#!/bin/sh
# shape.sh accepts code in good shape, and finds each way of being out of it.
# Run: shape_selftest.sh SCRATCH_FOLDER
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
bad=0

plant() {
  rm -rf "$scratch"
  mkdir -p "$scratch/src" "$scratch/tracepoints" "$scratch/symbolize" "$scratch/tests"
  cat >"$scratch/src/good.h" <<'END'
class Good {
 public:
  void first(int a, std::map<int, std::pair<int, int>> b, int c, int d = f(1, 2), int e = 0);
  void second();

 private:
  static constexpr int kLimit = 3;
  int a_, b_, c_, d_, e_, f_, g_, h_, i_, j_, k_, l_, m_, n_;
  std::vector<int> last_ = {};
};

struct Options {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
END
  printf 'void Good::first() {\n}\n\nvoid Good::second() {\n}\n' >"$scratch/src/good.cpp"
  # Two classes of one name, each alone in its file.
  for file in one two; do
    printf 'namespace {\nclass Local {\n  void run();\n};\nvoid Local::run() {\n}\n}\n' \
      >"$scratch/src/$file.cpp"
  done
}

check() { sh "$here/shape.sh" "$scratch"; }

expect_complaint() { # ABOUT, the planting command having run
  said=$(check) && { echo "not found: $1"; bad=1; }
  echo "$said" | grep -qF -- "$1" || { echo "not named: $1 in: $said"; bad=1; }
}

plant
said=$(check)
case $? in
  0) ;;
  77) echo "$said"; exit 77 ;;
  *) echo "refused what is in good shape: $said"; bad=1 ;;
esac
plant; { echo 'void long_one() {'; yes '  step();' | head -61; echo '}'; } >"$scratch/src/long.cpp"
expect_complaint "src/long.cpp:1: a function of 61 lines"
plant; sed -i 's/int a_,/int one_more_, a_,/' "$scratch/src/good.h"
expect_complaint "src/good.h:9: the class Good has more than 15 data members"
plant; printf 'void Good::third() {\n}\n' >"$scratch/src/good_late.cpp"
expect_complaint "functions of Good stand in src/good"
plant; printf 'int six(int a, int b, int c, int d, std::pair<int, int> e, int f);\n' >"$scratch/src/six.h"
expect_complaint "src/six.h:1: the function six has more than 5 parameters"
plant; printf 'int Good::six(int a, int b, int c, int d, int e, int f) {\n}\n' >>"$scratch/src/good.cpp"
expect_complaint "the function six has more than 5 parameters"
plant; printf 'struct Local;\nstruct Options {\n};\n' >"$scratch/src/other.h"
expect_complaint "src/other.h:2: Options is defined in src/good.h, too"
rm -rf "$scratch"
exit "$bad"
