#!/bin/sh
# shell.sh accepts good scripts, and finds a fault in each kind of them.
# Run: shell_selftest.sh SCRATCH_FOLDER
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
bad=0

plant() {
  rm -rf "$scratch"
  mkdir -p "$scratch/.ci" "$scratch/packaging" "$scratch/tests" "$scratch/tools"
  printf '#!/bin/sh\nset -eu\necho good\n' >"$scratch/.ci/run"
  printf 'shared=1\necho "$elsewhere"\n' >"$scratch/tests/part.sh"
  printf '#compdef no_script\n$x=(\n' >"$scratch/packaging/_memtrace"
}

check() { sh "$here/shell.sh" "$scratch"; }

expect_complaint() { # ABOUT, the planting command having run
  said=$(check) && { echo "not found: $1"; bad=1; }
  echo "$said" | grep -qF -- "$1" || { echo "not named: $1 in: $said"; bad=1; }
}

plant
said=$(check)
case $? in
  0) ;;
  77) echo "$said"; exit 77 ;;
  *) echo "refused what is good: $said"; bad=1 ;;
esac
plant; printf '#!/bin/sh\nrm -r $1\n' >"$scratch/tools/no_suffix"
expect_complaint "tools/no_suffix:2:7"
plant; printf '#!/bin/busybox sh\nrm -r $1\n' >"$scratch/tests/init"
expect_complaint "tests/init:2:7"
plant; echo 'rm -r $1' >>"$scratch/tests/part.sh"
expect_complaint "tests/part.sh:3:7"
plant; echo 'rm -r $1' >"$scratch/packaging/memtrace.bash"
expect_complaint "packaging/memtrace.bash:1:7"
rm -rf "$scratch"
exit "$bad"
