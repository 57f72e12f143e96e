#!/bin/sh
# What Firefox Profiler's command line reads in a file: firefox.sh PROGRAM FILE. Prints the functions
# of the first two tracks as JSON in one line each, between "t-0" and "end", and what it says about the
# recording. Its first call starts a daemon, and gives up early on a machine that is busy.
set -u
program=$1
file=$2
HOME=$PWD
export HOME

profiler() {
  timeout 60 node "$program" "$@" --session "$$"
}

profiler load "$file" >load.log 2>&1
tries=0
until profiler profile meta 2>>load.log; do
  tries=$((tries + 1))
  if [ "$tries" = 50 ]; then
    cat load.log >&2
    exit 1
  fi
  sleep 0.2
done
for track in t-0 t-1; do
  echo "$track"
  profiler thread functions --json --thread "$track" | tr -d '\n'
  printf '\nend\n'
done
timeout 60 node "$program" stop "$$" >>load.log
