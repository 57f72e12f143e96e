#!/bin/sh
# What depends on the kind of machine refuses to be built for one that memtrace does not know, and
# names both that it does: no "#else" for any other machine.
cd "$1" || exit 1
compiler=${CXX:-c++}
bad=0

# shellcheck disable=SC2013
for file in $(grep -rlE '__(x86_64|aarch64)__' src tracepoints symbolize); do
  [ "$file" = src/os/host_machine.h ] && continue
  if ! grep -q '#include "os/host_machine.h"' "$file"; then
    echo "$file: depends on the machine and does not include os/host_machine.h"
    bad=1
  fi
done

builds() {
  echo '#include "os/host_machine.h"' | "$compiler" -std=c++20 -Isrc "$@" -x c++ -fsyntax-only - 2>&1
}
if ! builds; then
  bad=1
fi
if said=$(builds -U__x86_64__ -U__aarch64__); then
  echo "os/host_machine.h lets an unknown machine pass"
  bad=1
elif ! echo "$said" | grep -q 'memtrace knows 64-bit x86 and little-endian 64-bit Arm'; then
  echo "$said"
  bad=1
fi
exit $bad
