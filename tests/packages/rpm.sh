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
# Folders that belong to other packages must not be claimed.
foreign=$(query --qf '[%{FILENAMES} %{FILEMODES:perms}\n]' |
  awk '$2 ~ /^d/ && $1 !~ /memtrace/ { print $1 }')
[ -z "$foreign" ] || fail "the package claims folders of others: $foreign"
[ "$(query --qf '%{NAME} %{LICENSE} %{ARCH}')" = "memtrace GPL-2.0-or-later x86_64" ] ||
  fail "name, licence or machine: $(rpm -qpi "$package" 2>&1)"

# RHEL 6 has rpm 4.8: it knows these features and gzip, and needs the old digest of the header.
required=$(query --requires | grep -vE '^rpmlib\((CompressedFileNames|PayloadFilesHavePrefix)\) <= [34]\.0|^rpmlib\(FileDigests\) <= 4\.6' || true)
[ -z "$required" ] || fail "the package requires: $required"
[ "$(query --qf '%{PAYLOADCOMPRESSOR}')" = gzip ] || fail "it is not compressed by gzip"
query --qf '%{SIGMD5} %{SHA1HEADER}' | grep -qE '^[0-9a-f]{32} [0-9a-f]{40}$' ||
  fail "no digest that rpm 4.8 knows"

root=$work/root.$$
trap 'rm -rf "$root" "$work"/*.$$' EXIT
mkdir -p "$root"
{ rpm --root "$root" --initdb && rpm --root "$root" -i "$package"; } >"$work/rpm.log" 2>&1 ||
  { cat "$work/rpm.log"; fail "it does not install into an empty root"; }
cmp "$root/usr/bin/memtrace" "$build/memtrace-static" || fail "it does not hold memtrace-static"
[ "$(id -u)" = 0 ] || skip "not root: the program that was installed was not run"
[ "$(chroot "$root" /usr/bin/memtrace --version)" = "$("$build/memtrace-static" --version)" ] ||
  fail "the program does not run with nothing else there"
echo "$(basename "$package"): $(stat -c %s "$package") bytes"
