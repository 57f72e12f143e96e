# The workloads of tools/soak-report: load_NAME works until its process group is killed. Each may use the
# folder $1, and writes the pid to be watched to $1/pid if the recording is of one process.

# shellcheck shell=bash disable=SC2034  # read by other parts
# What is recorded of each: the options of `memtrace record`. PID is the pid that the load wrote.
declare -A recorded_of=(
  [compiles]='-a --for kmalloc,pages,slab,faults'
  [find]='-a --for kernel'
  [forks]='-a --for ledger,growth,mmap,brk,anon,faults,hfaults'
  [redis]='-p PID --for heap,leaks,malloc,arenas,growth'
  [postgres]='-a --for faults,ffaults,shm,mmap,path,filepages,writeback,stalls'
  [python]='-p PID --for heap,leaks,malloc,arenas,brk,mmap,path,calls,count,kleaks'
  [oom]='-a --for oom,stalls,reclaim,failures,enomem,vmscan'
  [swap]='-a --for swapin,stalls,reclaim,vmscan,compaction,anon,path,writeback'
  [tmpfs]='-a --for shm,filepages,ffaults,hfaults,numa,pages,writeback'
  [mappings]='-a --for mmap,enomem,failures,ledger,growth,path,kleaks'
)
all_loads=(compiles find forks redis postgres python oom swap tmpfs mappings)

load_compiles() {
  cat >"$1/a.cpp" <<'END'
#include <iostream>
#include <map>
#include <regex>
int main() { std::cout << std::regex_match("a", std::regex("a+")) << std::map<int, int>{}.size(); }
END
  for i in 1 2 3 4 5 6 7 8; do
    while :; do g++ -O1 -c "$1/a.cpp" -o "$1/$i.o"; done &
  done
  wait
}

load_find() {
  while :; do find / -xdev -ls; done >"$1/found" 2>&1
}

load_forks() {
  for _ in 1 2 3 4; do
    while :; do sh -c '/bin/true | /bin/cat'; done &
  done
  wait
}

load_redis() {
  redis-server --port 0 --unixsocket "$1/socket" --save '' --dir "$1" &
  echo $! >"$1/pid"
  while ! redis-cli -s "$1/socket" ping; do sleep 0.1; done
  while :; do redis-benchmark -s "$1/socket" -r 100000 -n 100000 -q; done
}

# The server refuses to run as root.
load_postgres() {
  programs=$(echo /usr/lib/postgresql/*/bin)
  chown postgres "$1"
  as_postgres() { setpriv --reuid postgres --regid postgres --clear-groups -- "$@"; }
  as_postgres "$programs/initdb" -D "$1/data" -A trust
  as_postgres "$programs/postgres" -D "$1/data" -k "$1" -c listen_addresses= &
  while ! "$programs/pg_isready" -h "$1"; do sleep 0.1; done
  as_postgres "$programs/pgbench" -h "$1" -i postgres
  while :; do as_postgres "$programs/pgbench" -h "$1" -c 4 -T 60 postgres; done
}

load_python() {
  python3 -c '
import json
while True:
    kept = [json.loads(json.dumps({"key %d" % i: list(range(i % 50))})) for i in range(20000)]
' &
  echo $! >"$1/pid"
  wait
}

load_oom() {
  enter_memory_group oom $((64 << 20))
  while :; do
    python3 -c 'held = [bytearray(1 << 20) for i in range(200)]'
  done
}

# The swap file belongs to the machine while it is in use: leave_machine() takes it back.
load_swap() {
  dd if=/dev/zero of="$SOAK_FOLDER/swap" bs=1M count=256
  chmod 600 "$SOAK_FOLDER/swap"
  mkswap "$SOAK_FOLDER/swap"
  swapon "$SOAK_FOLDER/swap"
  enter_memory_group swap $((64 << 20))
  python3 -c '
held = bytearray(120 << 20)
while True:
    for at in range(0, len(held), 4096):
        held[at] = 1
'
}

load_tmpfs() {
  folder=/dev/shm/memtrace_soak_$$
  mkdir -p "$folder"
  while :; do
    dd if=/dev/zero of="$folder/file" bs=1M count=64
    md5sum "$folder/file"
    rm "$folder/file"
  done
}

load_mappings() {
  python3 -c '
import mmap
while True:
    maps = [mmap.mmap(-1, (1 + i % 64) << 12) for i in range(500)]
    for m in maps:
        m[0] = 1
    del maps
    try:
        mmap.mmap(-1, 1 << 46)
    except (OSError, ValueError):
        pass
'
}

# The calling shell and its children, from now on, in a memory cgroup: v1 where it is mounted, else v2.
enter_memory_group() { # NAME BYTES
  root=/sys/fs/cgroup limit=memory.max
  [ ! -e /sys/fs/cgroup/memory/memory.limit_in_bytes ] ||
    root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
  mkdir -p "$root/memtrace_soak_$$_$1"
  echo "$2" >"$root/memtrace_soak_$$_$1/$limit"
  echo "$BASHPID" >"$root/memtrace_soak_$$_$1/cgroup.procs"
}

load_pid=
start_load() { # NAME FOLDER
  set -m # a process group of its own
  "load_$1" "$2" >"$2/log" 2>&1 </dev/null &
  load_pid=$!
  set +m
}

end_load() {
  [ -z "$load_pid" ] && return
  kill -TERM -- "-$load_pid" 2>/dev/null
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 -- "-$load_pid" 2>/dev/null || break
    sleep 0.2
  done
  kill -KILL -- "-$load_pid" 2>/dev/null
  wait "$load_pid" 2>/dev/null
  load_pid=
}

# Puts back what the loads changed.
leave_machine() {
  if [ -e "$SOAK_FOLDER/swap" ]; then
    swapoff "$SOAK_FOLDER/swap" 2>/dev/null
    rm -f "$SOAK_FOLDER/swap"
  fi
  rm -rf "/dev/shm/memtrace_soak_$$"
  for group in /sys/fs/cgroup{/memory,}/memtrace_soak_"$$"_*; do
    [ ! -d "$group" ] || rmdir "$group"
  done
}
