# Address spaces, by system calls.

check_spaces() {
  if ! has_event syscalls/sys_enter_mmap && ! has_event raw_syscalls/sys_enter &&
    ! has_event syscalls/sys_enter; then
    skip mmap 'this kernel has no tracepoints of system calls'
    return
  fi
  recorded --for mmap,brk,arenas -- "$PUPPETS/change_space" map /init own.maps
  check mmap.count = 50 "$(figure mmap map_many count)"
  check mmap.bytes = 1638400 "$(figure mmap map_many bytes)"
  check mmap.at_exit = 1392640 "$(figure mmap map_many at_exit)"
  check mmap.failed = 3 "$(figure mmap map_wrongly failed)"
  recorded --for brk -- "$PUPPETS/change_space" heap
  check brk.grows = 10 "$(figure brk grow grows)"
  check brk.grown = 1024000 "$(figure brk grow grown)"
  check brk.shrunk = 163840 "$(figure brk shrink shrunk)"
  check brk.queries = 7 "$(figure brk ask queries)"
  # Of each thread one, of a heap of its own.
  recorded --for arenas -- "$PUPPETS/many_arenas" 3
  check arenas.arenas = 3 "$(total arenas arenas)"
  check arenas.bytes '>=' 24000000 "$(figure arenas '' bytes)"
  recorded --for enomem -- "$PUPPETS/change_space" refuse
  check enomem.count = 23 "$(total enomem count)"
  recorded --for shm -- "$PUPPETS/share_memory" matrix
  check shm.left = 2 "$(total shm left)"
  check shm.left_bytes = 73728 "$(total shm left_bytes)"
}
