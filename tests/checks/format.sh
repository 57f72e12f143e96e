#!/bin/sh
# Every source is as clang-format 14 leaves it; other versions differ in details.
cd "$1" || exit 1

for program in clang-format-14 clang-format; do
  version=$("$program" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\).*/\1/p')
  [ "$version" = 14 ] && break
done
if [ "$version" != 14 ]; then
  echo "SKIPPED: clang-format 14 is not installed (found: ${version:-none})"
  exit 77
fi
find src tracepoints symbolize tests tools '(' -name '*.h' -o -name '*.cpp' -o -name '*.c' ')' \
  -exec "$program" --dry-run -Werror {} +
