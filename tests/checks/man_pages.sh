#!/bin/sh
# The options that `memtrace X --help` prints and those of the manual pages are the same, and every
# command and view has its page. Run: man_pages.sh PROGRAM FOLDER_OF_PAGES
#
# An option of --help is "  --name" or "  -n, --name" at the start of a line; one of a page is in an
# ".It Fl" line. Commands and views are the lines "  name  summary" below the headings "Commands" and
# "Views" of `memtrace help`, which a colon or a comma may end. What all views share stands in
# memtrace-report.1, whom to watch (a live view takes it, too) in memtrace-record.1, and what only live
# views take in memtrace.1.
set -u
program=$1
pages=$2
bad=0

complain() {
  echo "$*"
  bad=1
}

listed() { # HEADING
  "$program" help | awk -v heading="$1" '
    /^[^ ]/ { wanted = ($1 == heading ":" || $1 == heading ",") }
    wanted && /^  [a-z]/ { print $1 }'
}

options_of_help() { # COMMAND
  "$program" "$1" --help |
    sed -nE 's/^ +(-[A-Za-z](,| \[)? *)?(--[a-z][a-z0-9-]*).*/\3/p' | sort -u
}

options_of_page() { # NAME...
  for name in "$@"; do
    page=$pages/memtrace-$name.1
    [ "$name" != memtrace ] || page=$pages/memtrace.1
    sed -nE 's/^\.It (Fl .*)/\1/p' "$page" | grep -oE 'Fl -[a-z][a-z0-9-]*'
  done | sed 's/^Fl -/--/' | sort -u
}

# "--help" itself is in memtrace.1.
missing_from() { # OPTIONS OTHER_OPTIONS
  for option in $1; do
    case " $(echo "$2" | tr '\n' ' ') --help " in
      *" $option "*) ;;
      *) echo "$option" ;;
    esac
  done
}

agree() { # NAME, then the other pages that may describe its options
  name=$1
  if [ ! -f "$pages/memtrace-$name.1" ]; then
    complain "$name: there is no memtrace-$name.1"
    return
  fi
  in_help=$(options_of_help "$name")
  for option in $(missing_from "$in_help" "$(options_of_page "$@")"); do
    complain "$name: $option is in --help and in none of the pages: $*"
  done
  for option in $(missing_from "$(options_of_page "$name")" "$in_help"); do
    complain "$name: $option is in memtrace-$name.1 and not in --help"
  done
  "$program" help "$name" 2>&1 | grep -q "memtrace-$name" ||
    complain "$name: 'memtrace help $name' does not show memtrace-$name.1"
}

commands=$(listed Commands)
views=$(listed Views)
[ -n "$commands" ] || complain "'memtrace help' lists no commands"
[ -n "$views" ] || complain "'memtrace help' lists no views"
for command in $commands; do
  # help has no page of its own: memtrace.1 is about it.
  case $command in
    help) ;;
    diff) agree diff report ;;  # it makes two
    *) agree "$command" ;;
  esac
done
for view in $views; do
  agree "$view" report record memtrace
done
[ -n "$(options_of_help record)" ] || complain "'memtrace record --help' prints no options"
exit "$bad"
