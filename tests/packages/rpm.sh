#!/bin/sh
# The .rpm: built where rpmbuild is, and looked into.
. "$(dirname "$0")/common.sh"
command -v rpmbuild >/dev/null || skip "rpmbuild is not installed (Debian's package rpm has it)"
make_package RPM rpm
rpm -qpl "$package" 2>/dev/null | check_contents
# Folders that belong to other packages must not be claimed.
foreign=$(rpm -qp --qf '[%{FILENAMES} %{FILEMODES:perms}\n]' "$package" 2>/dev/null |
  awk '$2 ~ /^d/ && $1 !~ /memtrace/ { print $1 }')
[ -z "$foreign" ] || fail "the package claims folders of others: $foreign"
[ "$(rpm -qp --qf '%{NAME} %{LICENSE}' "$package" 2>/dev/null)" = "memtrace GPL-2.0-or-later" ] ||
  fail "name or licence: $(rpm -qpi "$package" 2>&1)"
echo "$(basename "$package"): $(stat -c %s "$package") bytes"
