# Views that judge: which stack leaks, why memory was refused, who makes whom wait, and what was
# before a kill.

check_verdicts() {
  if ! has_user_probes; then
    skip verdicts 'this kernel has no user probes'
    return
  fi
  "$PUPPETS/leak_patterns" config 14 &
  config=$!
  "$PUPPETS/leak_patterns" requests 14 &
  recorded --for leaks -p $config,$! -d 12
  wait
  check verdicts.leak = 1 "$(shown leaks --format csv --by caller | grep leak_session | grep -c ,leak,)"
  check verdicts.false = 0 "$(shown leaks --format csv --by caller | grep -v leak_session | grep -c ,leak,)"
  shown leaks --by caller
}

check_failures() {
  recorded --for failures -- "$PUPPETS/run_out" as
  for what in asked limit used; do
    check failures.$what = "$(sed "s/.*$what \([0-9]*\).*/\1/" output)" "$(figure failures rlimit_as $what)"
  done
  shown failures
}

# hog takes nearly all of the memory of a cgroup, and web a little: it waits because of hog.
check_stalls() {
  if [ -z "$DISK" ] || ! make_group || ! swapon "$DISK" 2>stderr; then
    skip stalls 'no memory cgroups or no swap'
    return
  fi
  recorded -a --for stalls -- sh -c 'echo $$ >"$GROUP_TASKS"
    "$PUPPETS/take_memory" anon hog 4000 8000 0 & "$PUPPETS/take_memory" anon web 4000 300 400 & wait'
  swapoff "$DISK"
  check stalls.caused '>=' 85 "$(figure stalls hog,web, of_victim | cut -d . -f 1)"
  shown stalls
}

check_watch() {
  if ! make_group; then
    skip watch 'this kernel has no memory cgroups'
    return
  fi
  rm -f begun && mkfifo begun
  MEMTRACE_READY_FD=9 "$MEMTRACE" watch --ring-size 512K --max-memory 8M --before 20s --after 500ms \
    --on oom -o w 9>begun >watched 2>&1 &
  watcher=$!
  read -r _ <begun || true
  sh -c 'echo $$ >"$GROUP_TASKS" && exec "$PUPPETS/press_memory" anon 8192' || true
  await 'wrote ' watched
  kill -TERM $watcher
  status=0
  wait $watcher || status=$?
  check watch.status = 0 $status
  cat watched
  file=$(sed -n 's/.*wrote \([^ ]*\.data\).*/\1/p' watched)
  traced report -i "$file" >happened || true
  sed 15q happened
  check watch.killed '>=' 1 "$(grep -c 'the OOM killer killed press_memory' happened)"
}

check_top() {
  traced top --batch -n 2 -d 1 --top 5 --width 80 >screens || true
  check top.screens = 2 "$(grep -c '^memtrace top  ' screens)"
  cat screens
}
