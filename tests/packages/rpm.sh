#!/bin/sh
# The .rpm: built where rpmbuild is, looked into, and installed and run where nothing else is.
. "$(dirname "$0")/common.sh"
command -v rpmbuild >/dev/null || skip "rpmbuild is not installed (Debian's package rpm has it)"
[ -x "$build/memtrace-static" ] || skip "memtrace-static was not built, which the .rpm holds"
make_package RPM rpm
query() {
  rpm -qp "$@" "$package" 2>/dev/null
}

query -l | check_contents LICENSE .gz
query -l | check_units
check_reproducible RPM rpm
check_without_paths "$build/memtrace-static"
check_sbom RPM "$build/memtrace-static"
# Folders that belong to other packages must not be claimed.
foreign=$(query --qf '[%{FILENAMES} %{FILEMODES:perms}\n]' |
  awk '$2 ~ /^d/ && $1 !~ /memtrace/ { print $1 }')
[ -z "$foreign" ] || fail "the package claims folders of others: $foreign"
[ "$(query --qf '%{NAME} %{LICENSE} %{ARCH}')" = "memtrace GPL-2.0-or-later x86_64" ] ||
  fail "name, licence or machine: $(rpm -qpi "$package" 2>&1)"

# RHEL 6 has rpm 4.8: it knows these features and gzip, and needs the old digest of the header.
required=$(query --requires | tr -s ' ' | sort)
known='rpmlib(CompressedFileNames) <= 3.0.4-1
rpmlib(FileDigests) <= 4.6.0-1
rpmlib(PayloadFilesHavePrefix) <= 4.0-1'
[ "$required" = "$known" ] || fail "the package requires: $required"
[ "$(query --qf '%{PAYLOADFORMAT} %{FILEDIGESTALGO}')" = "cpio 8" ] ||
  fail "its payload is no cpio, or its files have no digests of SHA-256"
[ "$(query --qf '%{PAYLOADCOMPRESSOR}')" = gzip ] || fail "it is not compressed by gzip"
query --qf '%{SIGMD5} %{SHA1HEADER}' | grep -qE '^[0-9a-f]{32} [0-9a-f]{40}$' ||
  fail "no digest that rpm 4.8 knows"

root=$work/root.$$
trap 'rm -rf "$root" "$work"/*.$$' EXIT
mkdir -p "$root"
# Debian's rpm has its database elsewhere.
rpm_in_root() {
  rpm --root "$root" --dbpath /var/lib/rpm "$@"
}
{ rpm_in_root --initdb && rpm_in_root -i "$package"; } >"$work/rpm.log" 2>&1 ||
  { cat "$work/rpm.log"; fail "it does not install into an empty root"; }
cmp "$root/usr/bin/memtrace" "$build/memtrace-static" || fail "it does not hold memtrace-static"
# Prints what differs from the package.
verify() {
  rpm_in_root -V memtrace 2>&1 || true
}
[ -z "$(verify)" ] || fail "as installed, it differs from the package: $(verify)"
readme=$root/usr/share/doc/memtrace/README.md
cp -p "$readme" "$work/readme.$$" && echo changed >>"$readme"
verify | grep -q 'README.md$' || fail "rpm -V does not see that a file has changed"
mv "$work/readme.$$" "$readme"
check_erases() {
  rpm_in_root -e memtrace >"$work/rpm.log" 2>&1 || { cat "$work/rpm.log"; fail "rpm -e"; }
  left=$(find "$root" -path "$root/var/lib/rpm" -prune -o ! -type d -print -o -name '*memtrace*' -print)
  [ -z "$left" ] || fail "after rpm -e there is still: $left"
}
[ "$(id -u)" = 0 ] || check_erases
[ "$(id -u)" = 0 ] || skip "not root: the program that was installed was not run"
[ "$(chroot "$root" /usr/bin/memtrace --version)" = "$("$build/memtrace-static" --version)" ] ||
  fail "the program does not run with nothing else there"
check_erases
echo "$(basename "$package"): $(stat -c %s "$package") bytes"
