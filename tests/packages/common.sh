# What the tests of packages share. $1 is the build folder. A test that cannot be made here says
# so and ends with 77.
set -eu
build=$(cd "$1" && pwd)
work=$build/packages
mkdir -p "$work"
# A shell that a signal ends does not run what it has for its exit: the package would stay installed.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
# Who makes packages on this machine is not for a test to say.
export DEBFULLNAME='tests of memtrace' DEBEMAIL=tests@example.org

skip() {
  echo "SKIPPED: $*"
  exit 77
}

fail() {
  echo "FAILED: $*"
  exit 1
}

# Makes the package and sets $package to its path.
make_package() {
  rm -f "$work"/*."$2"
  (cd "$build" && cpack -G "$1" -B "$work") >"$work/cpack-$2.log" 2>&1 ||
    { cat "$work/cpack-$2.log"; fail "cpack -G $1"; }
  package=$(echo "$work"/*."$2")
}

# What any package or installation holds below its prefix: lists it from standard input. $1: the
# file that says under which licence. $2: what pages end with behind their section.
check_contents() {
  sort >"$work/contents.$$"
  for path in bin/memtrace share/man/man1/memtrace.1 share/man/man1/memtrace-record.1 \
    share/man/man1/memtrace-leaks.1 share/bash-completion/completions/memtrace \
    share/zsh/site-functions/_memtrace share/doc/memtrace/README.md "share/doc/memtrace/$1"; do
    grep -Eq "(^|/)$path(\.gz)?$" "$work/contents.$$" || { cat "$work/contents.$$"; fail "no $path"; }
  done
  pages=$(grep -c "man/man[17]/memtrace.*\.[17]$2$" "$work/contents.$$")
  sources=$(printf '%s\n' "$(dirname "$0")"/../../man/*.[17] | wc -l)
  [ "$pages" = "$sources" ] || fail "$pages manual pages of $sources"
  rm -f "$work/contents.$$"
}

# The same build gives the same bytes, packed again in another folder and at another time. $1 and $2
# as of make_package, which comes before.
check_reproducible() {
  mkdir -p "$work/again.$$"
  (cd "$build" && touch memtrace* && TZ=Asia/Tokyo cpack -G "$1" -B "$work/again.$$") \
    >"$work/cpack-$2.log" 2>&1 || { cat "$work/cpack-$2.log"; fail "cpack -G $1, again"; }
  cmp "$package" "$work/again.$$"/*."$2" || fail "made again, the package has other bytes"
  rm -rf "$work/again.$$"
}

# A build folder says nothing of where it was, so that one elsewhere makes the same program. $1: the
# program.
check_without_paths() {
  if grep -aqF "$build" "$1"; then
    fail "$1 holds the path of its build folder"
  fi
}

# Lists what a package holds from standard input: the units of systemd that memtrace-fleet(7) and
# memtrace-watch(1) have.
check_units() {
  units=$(grep -cE '/lib/systemd/system/memtrace-(record@\.(service|timer)|watch\.service)$' || true)
  [ "$units" = 3 ] || fail "$units units of systemd, not 3"
}
