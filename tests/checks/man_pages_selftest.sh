#!/bin/sh
# man_pages.sh accepts a program and pages that agree, and finds each way of not agreeing.
# Run: man_pages_selftest.sh SCRATCH_FOLDER
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
bad=0

plant() {
  rm -rf "$scratch"
  mkdir -p "$scratch/man"
  cat >"$scratch/memtrace" <<'END'
#!/bin/sh
case "$*" in
  help) printf 'Usage\n\nCommands:\n  record  writes\n  report  reads\n  help  helps\n\nViews, for all:\n  slab  caches\n' ;;
  "record --help") printf '  -o, --output FILE  where\n      --user  stacks\n' ;;
  "report --help") printf '  --top N  rows\n' ;;
  "slab --help") printf '  --top N  rows\n  --user  stacks\n  --line  live\n  --rate  own\n' ;;
  "help "*) echo "memtrace-$2" ;;
esac
END
  chmod +x "$scratch/memtrace"
  printf '.It Fl o , Fl -output Ar FILE\n.It Fl -user\n' >"$scratch/man/memtrace-record.1"
  printf '.It Fl -top Ar N\n.Fl -elsewhere\n' >"$scratch/man/memtrace-report.1"
  printf '.It Fl -line\n' >"$scratch/man/memtrace.1"
  printf '.It Fl -rate\n' >"$scratch/man/memtrace-slab.1"
}

check() { sh "$here/man_pages.sh" "$scratch/memtrace" "$scratch/man"; }

expect_complaint() { # ABOUT, the planting command having run
  said=$(check) && { echo "not found: $1"; bad=1; }
  echo "$said" | grep -qF -- "$1" || { echo "not named: $1 in: $said"; bad=1; }
}

plant
check || { echo "refused what agrees"; bad=1; }
plant; rm "$scratch/man/memtrace-slab.1"
expect_complaint "there is no memtrace-slab.1"
plant; : >"$scratch/man/memtrace-slab.1"
expect_complaint "slab: --rate is in --help"
plant; echo '.It Fl -gone Ar N' >>"$scratch/man/memtrace-report.1"
expect_complaint "report: --gone is in memtrace-report.1"
plant; echo '.It Fl -top Ar N' >>"$scratch/man/memtrace-slab.1"; sed -i '/slab --help/d' "$scratch/memtrace"
expect_complaint "slab: --top is in memtrace-slab.1"
plant; sed -i '/"help "/d' "$scratch/memtrace"
expect_complaint "'memtrace help slab' does not show"
plant; sed -i 's/Views,/Sights,/' "$scratch/memtrace"
expect_complaint "lists no views"
rm -rf "$scratch"
exit "$bad"
