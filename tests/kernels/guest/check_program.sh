# The program itself, and that whatever its doctor promises can be recorded.

check_program() {
  check version = 0 "$(status_of "$MEMTRACE" --version)"
  check help = 0 "$(status_of "$MEMTRACE" help faults)"
  traced doctor --json >/results/doctor.json
  check doctor '>=' 25 "$(grep -cE '"state": "(works|in part|cannot)"' /results/doctor.json)"
  promised=$(awk -F '"' '/"view":/ { view = $4 } /"state":/ && $4 != "cannot" { print view }' \
    /results/doctor.json | grep -vx -e count -e calls)
  check promised.count '>=' 5 "$(echo "$promised" | wc -l)"
  # shellcheck disable=SC2086
  recorded --for "$(able $promised)" -- "$PUPPETS/touch_pages" 100
  check promised.events '>=' 100 "$(sed -n 's/^memtrace: \([0-9]*\) events, .*/\1/p' stderr)"
  check promised.overview = 0 "$(status_of "$MEMTRACE" report)"
}

# A view that runs, and prints as it goes.
check_live() {
  traced count --ring-size 2M -e kmem:kmalloc -a 1 2 --format csv >live.csv
  check live.tables '>=' 2 "$(grep -c '^[a-z_,]*count' live.csv)"
}
