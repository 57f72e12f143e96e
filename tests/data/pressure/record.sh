#!/bin/sh
# How pressure.data was made, as root on Linux 6.18 from the folder of the puppets, a neutral one, in
# the root cgroup:
#   unshare -u sh record.sh
hostname example
shop=/sys/fs/cgroup/memory/shop
mkdir -p $shop/import $shop/web
echo 8M >$shop/memory.limit_in_bytes
cat >play.sh <<'X'
(echo 0 >/sys/fs/cgroup/memory/shop/import/cgroup.procs; exec ./take_memory file import 80 100 a) &
(echo 0 >/sys/fs/cgroup/memory/shop/web/cgroup.procs; exec ./take_memory file web 80 5 b) &
wait
X
memtrace record -z --for stalls,slab --call-graph none -o pressure.data -- sh play.sh
rmdir $shop/import $shop/web $shop
rm -f play.sh a b
