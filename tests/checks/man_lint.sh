#!/bin/sh
# mandoc has nothing to say against a manual page. What it says of pages that are not installed here
# and of its own index is about this machine, not about the page.
if ! command -v mandoc >/dev/null; then
  echo "SKIPPED: mandoc is not installed"
  exit 77
fi
set -e
for page in "$1"/man/*.[17]; do
  [ -r "$page" ] || { echo "no manual pages in $1/man"; exit 1; }
done
# The message about the index goes to standard error, the others to standard output: read together,
# the one lands in the middle of another's line.
! mandoc -T lint -W style "$1"/man/*.[17] 2>/dev/null | grep -v 'referenced manual not found'
