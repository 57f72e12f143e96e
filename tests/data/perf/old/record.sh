# How the recordings here were made: by the perf of Debian's bullseye (5.10), bookworm (6.1) and
# trixie (6.12), on Linux 6.18 as root. Those of 6.1 and 6.12 with -z too. Of their feature sections
# only TRACING_DATA, EVENT_DESC and COMPRESSED were kept, and the table of sections made anew.
perf record -m 32 --no-buildid --no-buildid-cache -g -e kmem:kmalloc,page-faults -c 1 -- /bin/true
