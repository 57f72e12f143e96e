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

# Beside the package lies a list of what is in it: SPDX, with all libraries that the program names and
# the packaged program's own checksum. $1: the kind of package as cpack has it. $2: the program.
check_sbom() {
  command -v python3 >/dev/null || { echo "no python3: the list of components was not read"; return 0; }
  "$build/memtrace" version --build >"$work/build_facts.$$"
  python3 - "$(echo "$work"/memtrace-*."$1".spdx.json)" "$2" "$work/build_facts.$$" <<'END' ||
import hashlib, json, sys
sbom = json.load(open(sys.argv[1]))
assert sbom["spdxVersion"] == "SPDX-2.3" and sbom["creationInfo"]["created"].endswith("Z")
lines = open(sys.argv[3]).read().split("libraries\n")[1].splitlines()
wanted = {tuple(line.split(None, 2)) for line in lines}
listed = {(p["name"], p["versionInfo"], p["licenseDeclared"]) for p in sbom["packages"]}
assert wanted and wanted == {p for p in listed if p[0] != "memtrace"}, wanted ^ listed
ids = [each["SPDXID"] for each in sbom["packages"] + sbom["files"]]
assert len(set(ids)) == len(ids)
assert all(r["relatedSpdxElement"] in ids for r in sbom["relationships"])
program = open(sys.argv[2], "rb").read()
sums = {c["algorithm"]: c["checksumValue"] for c in sbom["files"][0]["checksums"]}
assert sums["SHA256"] == hashlib.sha256(program).hexdigest(), "another program's checksum"
assert sums["SHA1"] == hashlib.sha1(program).hexdigest()
END
    fail "the list of components"
  rm -f "$work/build_facts.$$"
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
