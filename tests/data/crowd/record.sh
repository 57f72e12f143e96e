#!/bin/sh
# How crowd.data was made, as root on Linux 6.18 from the folder of the puppets:
#   unshare -u sh record.sh
# The puppet is attached to while it waits, so that its start is not in the file.
hostname example
mkfifo go
./crowd 6 < go > pid &
exec 3> go
while ! [ -s pid ]; do sleep 0.1; done
memtrace record --for kmalloc,slab,pages,kleaks,faults -p "$(cat pid)" -o crowd.data &
sleep 1
echo >&3
wait
rm go pid
