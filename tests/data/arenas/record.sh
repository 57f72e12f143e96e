#!/bin/sh
# How arenas.data was made, as root on Linux 6.18 from the folder of the puppets, a neutral one, in
# the root cgroup:
#   unshare -u sh record.sh
hostname example
memtrace record -z --for calls,arenas -o arenas.data -- ./many_arenas 2
