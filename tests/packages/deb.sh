#!/bin/sh
# The .deb: built, installed into this machine, used, and removed again.
. "$(dirname "$0")/common.sh"
command -v dpkg-deb >/dev/null || skip "no dpkg here: .deb packages are not for this machine"
make_package DEB deb
dpkg-deb --contents "$package" | awk '$1 !~ /^d/ { print $6 }' | check_contents copyright .gz
echo "$(basename "$package"): $(stat -c %s "$package") bytes; depends on $(dpkg-deb -f "$package" Depends)"
dpkg-deb --contents "$package" | awk '{ print $6 }' | check_units
check_reproducible DEB deb
dpkg-deb --extract "$package" "$work/root.$$"
check_without_paths "$work/root.$$/usr/bin/memtrace"
check_sbom DEB "$work/root.$$/usr/bin/memtrace"
rm -rf "$work/root.$$"
check_policy() {
  if ! command -v lintian >/dev/null; then
    echo "lintian is not installed: the package was not held to Debian's policy"
    return 0
  fi
  lintian --fail-on error,warning "$package" || fail "lintian"
}
check_policy
[ "$(dpkg-deb -f "$package" Maintainer)" = "$DEBFULLNAME <$DEBEMAIL>" ] || fail "its maintainer"
# Who answers for a package must be known, and not somebody at localhost.
if (cd "$build" && DEBEMAIL=root@localhost cpack -G DEB -B "$work/nobody.$$") >"$work/cpack.log" 2>&1; then
  fail "a package whose maintainer has no mail address was made"
fi
grep -q 'set DEBFULLNAME' "$work/cpack.log" || { cat "$work/cpack.log"; fail "no word of what to set"; }
[ "$(id -u)" = 0 ] || skip "not root: the package was built and looked into, not installed"
if dpkg-query -W -f='${db:Status-Status}\n' memtrace 2>/dev/null | grep -q .; then
  skip "a package memtrace is known to this machine already"
fi
installed() { dpkg-query -W -f='${Package} ${Version} ${db:Status-Abbrev}\n'; }
installed >"$work/before.$$"
trap 'dpkg --purge memtrace >/dev/null 2>&1; rm -f "$work"/*.$$' EXIT
dpkg --install "$package" >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "dpkg --install"; }
dpkg --verify memtrace || fail "dpkg --verify"
for path in $(dpkg --listfiles memtrace); do
  [ -e "$path" ] || fail "$path was not installed"
done
[ "$(command -v memtrace)" = /usr/bin/memtrace ] || fail "memtrace is not in the path"
(cd / && memtrace help leaks >/dev/null && memtrace doctor >/dev/null) || fail "it does not run"
# Pages of the manual are looked for above.
if command -v systemd-analyze >/dev/null; then
  systemd-analyze verify --man=no memtrace-record@kmalloc.service memtrace-record@kmalloc.timer \
    memtrace-watch.service >"$work/units.log" 2>&1 ||
    { cat "$work/units.log"; fail "systemd-analyze verify"; }
  # What its exposure was when each setting was tried: 3.5 of 10, in tenths. systemd 250 can tell it
  # of a unit that does not run.
  if systemd-analyze --help | grep -q -e --offline; then
    systemd-analyze security --no-pager --offline=true --threshold=35 memtrace-watch.service \
      >"$work/units.log" 2>&1 || { cat "$work/units.log"; fail "systemd-analyze security"; }
  fi
else
  echo "systemd-analyze is not installed: the units were not verified"
fi
dpkg --listfiles memtrace >"$work/files.$$"
dpkg --purge memtrace >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; fail "dpkg --purge"; }
while read -r path; do
  [ -d "$path" ] || [ ! -e "$path" ] || fail "$path was left behind"
done <"$work/files.$$"
installed | cmp - "$work/before.$$" || fail "other packages were changed"
