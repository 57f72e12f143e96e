# shellcheck disable=SC2154  # of other parts
# The recordings of tools/soak-report: a file for each load, $SOAK_FOLDER/recordings/LOAD.data.

# The views that a load is recorded for, one a line.
views_of() { # LOAD
  local views
  views=$(sed -E 's/.*--for ([^ ]*).*/\1/; s/,/ /g' <<<"${recorded_of[$1]}")
  if [ "$views" = kernel ]; then
    views=$("$MEMTRACE_PLAIN" list | cut -d ' ' -f 1 | grep -vxE 'heap|leaks|malloc|arenas|calls')
  fi
  tr ' ' '\n' <<<"$views"
}

# The load is over when this returns, and a file says what is recorded.
record_loads() { # SECONDS LOAD...
  local seconds=$1 load
  shift
  for load in "$@"; do
    record_load "$load" "$seconds"
    end_load
    leave_machine
  done
}

record_load() { # LOAD SECONDS
  local folder=$SOAK_FOLDER/load file=$SOAK_FOLDER/recordings/$1.data options=${recorded_of[$1]}
  rm -rf "$folder"
  mkdir "$folder"
  start_load "$1" "$folder"
  sleep 1
  if [[ $options = *PID* ]]; then
    wait_for_file "$folder/pid"
    options=${options/PID/$(cat "$folder/pid")}
  fi
  if [ "$1" = postgres ]; then # its data folder takes a while
    for _ in {1..100}; do
      grep -q 'starting vacuum.*end' "$folder/log" && break
      sleep 0.2
    done
  fi
  # shellcheck disable=SC2086
  if ! "$MEMTRACE_PLAIN" record $options -d "$2" -o "$file" >"$folder/record" 2>&1; then
    keep_finding "record $options" "$folder/record" "$folder/log"
    return
  fi
  rm -f "$file.old"
  echo "$1" >>"$SOAK_FOLDER/recorded"
}

wait_for_file() { # FILE
  for _ in {1..100}; do
    [ ! -s "$1" ] || return
    sleep 0.1
  done
}
