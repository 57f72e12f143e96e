#!/bin/sh
# mandoc has nothing to say against a manual page. What it says of pages that are not installed here
# and of its own index is about this machine, not about the page.
if ! command -v mandoc >/dev/null; then
  echo "SKIPPED: mandoc is not installed"
  exit 77
fi
! mandoc -T lint -W style "$1"/man/*.1 2>&1 |
  grep -v -e 'referenced manual not found' -e 'outdated mandoc.db'
