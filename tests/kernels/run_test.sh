#!/bin/sh
# tests/kernels/run itself, with a program in QEMU's place that says what a guest says: what is printed
# while it works, that each boot keeps its log, and that nothing is left behind by any way to end.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
runner=
trap '[ -z "$runner" ] || kill "$runner" 2>/dev/null || true; rm -rf "$folder"' EXIT
trap 'exit 143' HUP INT TERM

fail() {
  echo "FAILED: $*"
  cat "$folder/output"
  exit 1
}

if ! command -v cpio >/dev/null || ! busybox --list 2>/dev/null | grep -qx stty; then
  echo "SKIPPED: tests/kernels/run needs cpio and a static busybox"
  exit 77
fi
mkdir -p "$folder/bin" "$folder/build/kernels/puppets"
for program in "$folder/build/memtrace-static" "$folder/build/kernels/puppets/touch_pages"; do
  echo '#!/bin/sh' >"$program"
  chmod +x "$program"
done
# Its first boot ends early where the folder has the file fails_first; it stays where it has stays.
cat >"$folder/bin/qemu-system-x86_64" <<EOF
#!/bin/sh
echo "KERNEL 1.2.3"
echo "AT 4.5 program"
if [ -e $folder/stays ]; then
  echo \$\$ >$folder/pid
  exec sleep 100
fi
if [ -e $folder/fails_first ]; then
  rm $folder/fails_first
  echo "Kernel panic"
  exit 0
fi
echo "CHECK one = 1 1"
echo "AT 6.7 the end"
echo "GUEST DONE"
for option in "\$@"; do
  case \$option in file:*) : >"\${option#file:}" ;; esac
done
EOF
chmod +x "$folder/bin/qemu-system-x86_64"
# "exec env": who starts it beside itself knows its process. A shell lets what it starts so ignore
# SIGINT, and no trap changes that; env does.
run() {
  PATH=$folder/bin:$PATH
  exec env --default-signal=INT "$here/run" --build "$folder/build" --image "$folder/image" \
    --name stand-in "$@" >"$folder/output" 2>&1
}
kernels=$folder/build/kernels

nothing_left() {
  for left in "$kernels"/run.*; do
    [ ! -e "$left" ] || fail "$1 leaves $left: $(ls "$left")"
  done
}

mkdir "$kernels/run.999999999"  # of a run that was killed
touch "$folder/fails_first"
(run) || fail "a second boot that comes to its end is not enough"
grep -q '^kernel stand-in (1.2.3): 1 checks passed' "$folder/output" || fail "no sum"
grep -q '^kernel stand-in: at 4.5 s program$' "$folder/output" || fail "no progress"
grep -q '^kernel stand-in: at 6.7 s the end$' "$folder/output" || fail "no progress at the end"
grep -q 'Kernel panic' "$kernels/stand-in.boot1.log" || fail "the first boot's log is gone"
grep -q 'GUEST DONE' "$kernels/stand-in.boot2.log" || fail "the second boot's log is gone"
nothing_left "a run to the end"

touch "$folder/stays"
(run --seconds 1) && fail "guests that hang are no failure"
grep -q 'boot 3 of at most 3' "$folder/output" || fail "a guest that hangs is not started again"
grep -q 'none of 3 boots came to its end (each part may take 1 s)' "$folder/output" ||
  fail "nothing says that guests hang"
nothing_left "a guest that hangs"

for signal in TERM INT HUP; do
  rm -f "$folder/pid"
  run &
  runner=$!
  tries=0
  until [ -s "$folder/pid" ]; do
    tries=$((tries + 1))
    [ $tries -le 300 ] || fail "no guest was started"
    sleep 0.1
  done
  guest=$(cat "$folder/pid")
  kill -s $signal $runner
  status=0
  wait $runner || status=$?
  runner=
  [ $status -gt 128 ] || fail "SIG$signal: the status is $status, and says nothing of a signal"
  ! kill -0 "$guest" 2>/dev/null || fail "SIG$signal leaves the guest $guest running"
  nothing_left "SIG$signal"
done
