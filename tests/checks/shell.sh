#!/bin/sh
# Every shell script passes shellcheck. Exceptions are in .shellcheckrc and in the scripts themselves.
# Run: shell.sh ROOT
set -u
cd "$1" || exit 1
if ! command -v shellcheck >/dev/null; then
  echo "SKIPPED: shellcheck is not installed"
  exit 77
fi

bad=0
found=0
# A script is known by its first line, or by its name if other scripts read it. _memtrace is left
# out: shellcheck does not know zsh.
for file in $(find .ci packaging tests tools -type f | LC_ALL=C sort); do
  line=$(head -c 64 "$file" | tr -d '\000' | head -n 1)
  case $line:$file in
    '#!/bin/busybox sh:'*) options='-s dash' ;;
    '#!'*/sh:* | '#!'*bash:*) options= ;;
    # The variables of a part are those of the script that reads it.
    *.sh) options='-s dash -e SC2034,SC2154' ;;
    *.bash) options='-s bash' ;;
    *) continue ;;
  esac
  found=$((found + 1))
  # shellcheck disable=SC2086
  shellcheck -f gcc $options "$file" || bad=1
done
[ "$found" -gt 0 ] || { echo "no scripts in $1"; bad=1; }
exit "$bad"
