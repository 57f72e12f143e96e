#!/bin/sh
# mandoc has nothing to say against a manual page.
if ! command -v mandoc >/dev/null; then
  echo "SKIPPED: mandoc is not installed"
  exit 77
fi
mandoc -T lint -W warning "$1"/man/*.1
