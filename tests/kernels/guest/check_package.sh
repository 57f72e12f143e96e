# The .rpm, where nothing of the release that built it is: what it installs is the program that all
# checks run, until it is removed at the end.

# The shell takes it apart: it is no words, or one.
old_calls=
rpm_here() {
  # shellcheck disable=SC2086
  RPM_CONFIGDIR=/rpm/config $old_calls /rpm/lib/ld.so --library-path /rpm/lib /rpm/rpm \
    --dbpath /var/lib/rpm "$@"
}

# On a kernel that is too old for its C library, with the calls that the kernel knows.
has_rpm() {
  [ -e /rpm/rpm ] || return 1
  rpm_here --version >/dev/null 2>stderr || old_calls=/rpm/old_calls
  rpm_here --version >/dev/null 2>stderr
}

check_package() {
  if [ ! -e /memtrace.rpm ]; then
    say_missing package
    return
  fi
  if has_rpm; then
    mkdir -p /var/lib/rpm
    # The root is a ramfs, which does not say how much room it has.
    check package.installs = 0 "$(status_of rpm_here -i --ignoresize /memtrace.rpm)"
    sed 's/^/rpm: /' stderr
    check package.query = memtrace "$(rpm_here -q --queryformat '%{NAME}' memtrace)"
    check package.verify = 0 "$(rpm_here -V memtrace | wc -l)"
    readme=/usr/share/doc/memtrace/README.md
    cp -p $readme readme && echo changed >>$readme
    check package.verify_sees = 1 "$(rpm_here -V memtrace 2>&1 | grep -c 'README.md$')"
    cp -p readme $readme
  else
    skip package.database "no rpm that runs here, the package is unpacked: $(head -n 1 stderr)"
    (cd / && rpm2cpio /memtrace.rpm | cpio -idm 2>/tmp/stderr) || cat stderr
  fi
  check package.program = 0 "$(status_of cmp /usr/bin/memtrace "$MEMTRACE")"
  check package.runs = 0 "$(status_of /usr/bin/memtrace --version)"
  check package.page = 1 "$(zcat /usr/share/man/man1/memtrace-leaks.1.gz | grep -c '^.Dt MEMTRACE-LEAKS')"
  [ ! -x /usr/bin/memtrace ] || MEMTRACE=/usr/bin/memtrace
}

check_removal() {
  if [ "$MEMTRACE" != /usr/bin/memtrace ] || ! has_rpm; then
    return
  fi
  check package.removes = 0 "$(status_of rpm_here -e memtrace)"
  for left in /usr/bin/memtrace /usr/share/man/man1/memtrace.1.gz /usr/share/doc/memtrace; do
    [ ! -e $left ] || check package.left = none $left
  done
  check package.gone = 1 "$(status_of rpm_here -q memtrace)"
}
