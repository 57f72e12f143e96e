# blocks.sh PAGES: fills PAGES of memory with holes, and asks for huge pages one by one until one
# was made by compaction and no free block of its size is left. What the kernel says of its zones
# then is in the file index.

# Pages that who needs a block has looked at, and not kcompactd: there may be none in a stall.
scanned() {
  awk '$1 == "compact_migrate_scanned" { all = $2 }
    $1 == "compact_daemon_migrate_scanned" { by_daemon = $2 }
    END { print all - by_daemon }' /proc/vmstat
}

"$PUPPETS/press_memory" holes "$1" >ready &
until grep -q ready ready; do usleep 50000; done
tries=0
pages=0
while [ $tries -lt 15 ] && [ $pages -lt 150 ]; do
  pages=$((pages + 1))
  before=$(scanned)
  echo "$pages" >/proc/sys/vm/nr_hugepages
  [ "$(scanned)" != "$before" ] || continue
  tries=$((tries + 1))
  sleep 1  # for memtrace to look, too
  cat /sys/kernel/debug/extfrag/extfrag_index >index
  ! awk '$4 == "DMA32" && $14 >= 0' index | grep -q . || break
done
echo 0 >/proc/sys/vm/nr_hugepages
kill $!
