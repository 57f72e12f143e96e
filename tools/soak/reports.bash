# shellcheck disable=SC2154  # of other parts
# The reports of tools/soak-report: lines of arguments for memtrace, one for each run.

formats=(text json csv ndjson openmetrics folded html svg pprof speedscope firefox massif heaptrack)

recordings() {
  find "$SOAK_FOLDER/recordings" -name '*.data' | sort
}

reports_short() {
  local file view format
  for file in $(recordings); do
    echo "report -i $file"
    echo "report --all -i $file"
    for view in $(views_of "$(basename -s .data "$file")"); do
      echo "report $view -i $file"
    done
    for format in json html pprof; do
      echo "report -i $file --format $format"
    done
  done
}

reports_long() {
  local file view key format before=
  for file in $(recordings); do
    for format in "${formats[@]}"; do
      echo "report -i $file --format $format"
      echo "report --all -i $file --format $format"
    done
    for view in $(views_of "$(basename -s .data "$file")"); do
      for key in $("$MEMTRACE_PLAIN" list keys "$view"); do
        echo "report $view -i $file --by $key"
      done
      for format in "${formats[@]}"; do
        echo "report $view -i $file --format $format"
      done
      echo "report $view -i $file --time 0.5,1.5"
      [ -z "$before" ] || echo "diff $before $file $view"
    done
    [ -z "$before" ] || echo "diff $before $file"
    echo "convert -i $file -o /dev/null"
    before=$file
  done
}

# Reads lines of arguments; runs them until SECONDS has that value, as many at a time as there are CPUs.
run_reports() { # UNTIL
  SOAK_UNTIL=$((EPOCHSECONDS - SECONDS + $1)) \
    xargs -P "$(nproc)" -I '{}' "$soak/run_once" "$MEMTRACE_SANITIZED" '{}'
}

# The plain program says the same of a file each time, within the memory that its man page promises.
run_plainly() { # UNTIL
  local file time
  for file in $(recordings); do
    for time in {1..10}; do
      [ "$SECONDS" -lt "$1" ] || return
      "$soak/run_once" "$MEMTRACE_PLAIN" "report -i $file" "$SOAK_FOLDER/plain.$time"
      if ! cmp -s "$SOAK_FOLDER/plain.1" "$SOAK_FOLDER/plain.$time"; then
        keep_finding "report -i $file, run $time, differs from the first" "$file" "$SOAK_FOLDER/plain.1" \
          "$SOAK_FOLDER/plain.$time"
      fi
    done
  done
}

# Each view live, and top, while the machine compiles.
watch_live() {
  local view
  mkdir -p "$SOAK_FOLDER/load"
  start_load compiles "$SOAK_FOLDER/load"
  for view in $("$MEMTRACE_PLAIN" list | cut -d ' ' -f 1); do
    case $view in
      heap | leaks | malloc | arenas | calls) ;;
      *) "$soak/run_once" "$MEMTRACE_SANITIZED" "$view -a 1 2" ;;
    esac
  done
  "$soak/run_once" "$MEMTRACE_SANITIZED" "top --batch -a -n 3"
  end_load
}

# A finding's folder: what was run, and copies of the files named.
keep_finding() { # COMMAND FILE...
  local folder
  folder=$(mktemp -d "$SOAK_FOLDER/findings/XXXXXX")
  echo "$1" >"$folder/command"
  shift
  cp -- "$@" "$folder/"
  echo "soak-report: a finding: $(cat "$folder/command") (in $folder)" >&2
}
