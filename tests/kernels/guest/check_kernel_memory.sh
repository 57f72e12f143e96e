# What the kernel allocates itself: messages of 1,048 bytes in blocks of 2,048.

check_kernel_memory() {
  recorded --for kmalloc,slab -- "$PUPPETS/many_kmallocs" 200
  # SELinux has a few bytes more for each.
  labels=security_msg_msg_alloc
  check kmalloc.count '>=' 200 "$(figure kmalloc send_messages count --exclude $labels)"
  check kmalloc.count '<=' 220 "$(figure kmalloc send_messages count --exclude $labels)"
  check kmalloc.asked '>=' 209600 "$(figure kmalloc send_messages bytes_req)"
  check slab.allocs '>=' 200 "$(figure slab many_kmallocs allocs --by comm)"
  cache=kmalloc-2
  [ -d /sys/kernel/slab ] || cache=size-2048  # SLAB, of RHEL 6
  check slab.caches '>=' 200 "$(figure slab $cache allocs --by cache)"
  recorded -a --for kleaks -- "$PUPPETS/leak_kernel" 100
  others=cache_grow,allocate_slab,new_slab,$labels  # what slabs are made of: many on RHEL 6
  check kleaks.count '>=' 100 "$(figure kleaks leave_messages count --exclude $others)"
  check kleaks.count '<=' 110 "$(figure kleaks leave_messages count --exclude $others)"
  recorded -e kmem:kmalloc --filter 'bytes_req == 1048' -- "$PUPPETS/many_kmallocs" 150
  check count.filtered = 150 "$(figure count many_kmallocs count --by comm)"
  # A child's, too: the shell only starts it.
  recorded -e kmem:kmalloc --filter 'bytes_req == 1048' -- sh -c '"$PUPPETS/many_kmallocs" 120; true'
  check count.filtered_child = 120 "$(figure count '' count --by comm)"
}
