#!/bin/sh
# The shape of functions and classes, found by what hurts a reader: no function over 60 lines or 5
# parameters, no class over 15 data members, no class whose member functions stand in two .cpp files.
# Two classes of one name in two headers are one to the linker, which keeps the functions of either.
# Run: shape.sh ROOT
here=$(cd "$(dirname "$0")" && pwd)
cd "$1" || exit 1
sources=$(find src tracepoints symbolize tests -type f \( -name '*.h' -o -name '*.cpp' \) |
  grep -Ev '/(golden|data)/' | sort)
bad=0

# A function is found by the layout that clang-format gives it: a "}" alone ends what the last line
# of the same indent began, at the start of a line or, for one inside a class, two columns in.
echo "$sources" | xargs awk '
  { file = FILENAME }
  /^[A-Za-z[]/ { began[0] = FNR }
  /^  [A-Za-z~[]/ { began[2] = FNR }
  /^}$/ { check_function(0) }
  /^  }$/ { check_function(2) }
  function check_function(indent) {
    if (FNR - began[indent] - 1 > 60) {
      printf "%s:%d: a function of %d lines\n", file, began[indent], FNR - began[indent] - 1
      bad = 1
    }
  }
  END { exit bad }' || bad=1

# A forward declaration ends in ";".
echo "$sources" | grep '\.h$' | grep -v '^tests/' | xargs awk '
  /^(struct|class) [A-Za-z]+ (final )?(: .*)?\{/ {
    if ($2 in first) {
      printf "%s:%d: %s is defined in %s, too\n", FILENAME, FNR, $2, first[$2]
      bad = 1
    }
    first[$2] = FILENAME
  }
  END { exit bad }' || bad=1

# Exuberant Ctags, the other program of this name, does not know C++20.
if ! ctags --version 2>/dev/null | grep -q '^Universal Ctags'; then
  [ "$bad" = 0 ] || exit 1
  echo "SKIPPED: universal-ctags is not installed"
  exit 77
fi
# Puppets show what compilers make of strange functions.
echo "$sources" | grep -v /puppets/ |
  ctags -L - -f - --sort=no --excmd=number --languages=C++ --language-force=C++ --kinds-C++=fpm \
    --fields=KsSn --fields-C++=+'{properties}' |
  awk -f "$here/shape.awk" || bad=1
exit "$bad"
