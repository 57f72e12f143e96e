#!/bin/sh
# tools/test_summary.awk counts every test once: those of ctest, those within a test program, and a
# program that died.
# Run: test_summary_selftest.sh AWK_SCRIPT SCRATCH_FOLDER
set -u
script=$1
scratch=$2
bad=0
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

# A test of ctest's file: NAME STATUS.
ctest_case() { printf '\t<testcase name="%s" status="%s">\n\t</testcase>\n' "$1" "$2"; }

# One that failed, and what it printed: NAME TEXT.
failed_case() {
  printf '\t<testcase name="%s" status="fail">\n\t\t<failure message=""/>\n' "$1"
  printf '\t\t<system-out>%b</system-out>\n\t</testcase>\n' "$2"
}

# A test of a program's own file: NAME WHAT_IS_WITHIN
own_case() {
  if [ $# -eq 1 ]; then
    printf '    <testcase name="%s" status="run" result="completed" classname="Suite" />\n' "$1"
  else
    printf '    <testcase name="%s" status="run" classname="Suite">\n      %s\n    </testcase>\n' \
      "$1" "$2"
  fi
}

expect() { # STATUS LAST_LINE FILE...
  wanted_status=$1
  wanted=$2
  shift 2
  said=$(awk -f "$script" "$@")
  status=$?
  if [ "$status" != "$wanted_status" ] || [ "$(echo "$said" | tail -n 1)" != "$wanted" ]; then
    echo "wanted $wanted_status, $wanted; got $status, $said"
    bad=1
  fi
}

{ own_case one; own_case two; } >address_sanitizer.good.xml
{
  own_case one
  own_case two '<failure message="a_test.cpp:9&#x0A;1 &lt; 2" type=""><![CDATA[x]]></failure>'
  own_case three '<skipped message="a_test.cpp:7&#x0A;no time"><![CDATA[x]]></skipped>'
} >address_sanitizer.bad.xml

{ ctest_case plain run; ctest_case address_sanitizer.good run; } >good.xml
expect 0 '3 passed, 0 failed, 0 skipped' address_sanitizer.good.xml good.xml

{ ctest_case plain run; ctest_case address_sanitizer.bad fail; } >bad.xml
expect 1 '2 passed, 1 failed, 1 skipped' address_sanitizer.bad.xml bad.xml
awk -f "$script" address_sanitizer.bad.xml bad.xml |
  grep -qx 'skipped: address_sanitizer.bad.Suite.three: no time' || { echo "no reason"; bad=1; }
awk -f "$script" address_sanitizer.bad.xml bad.xml | grep -A1 '^failed: address_sanitizer.bad.Suite.two' |
  grep -qx '  a_test.cpp:9 1 < 2' || { echo "nothing about the failure"; bad=1; }

# Its tests pass, and it leaks memory; another dies and leaves no file.
{ ctest_case address_sanitizer.good fail; ctest_case address_sanitizer.dead fail; } >died.xml
expect 1 '2 passed, 2 failed, 0 skipped' address_sanitizer.good.xml died.xml

# A live test that fails and passes when it runs again is named; one that fails each time has failed.
{ ctest_case plain run; ctest_case live.once fail; ctest_case live.always fail; } >results.xml
{ ctest_case live.once run; ctest_case live.always fail; } >again-1.xml
ctest_case live.always fail >again-2.xml
expect 1 '2 passed, 1 failed, 0 skipped' results.xml again-1.xml again-2.xml
ctest_case live.always run >again-2.xml
expect 0 '3 passed, 0 failed, 0 skipped' results.xml again-1.xml again-2.xml
awk -f "$script" results.xml again-1.xml again-2.xml | tail -n 3 | head -n 2 | tr '\n' ' ' |
  grep -qx 'flaky: live.once flaky: live.always ' || { echo "no flaky tests"; bad=1; }

# What failed tests printed: GoogleTest's first failure, and a script's last lines.
{
  failed_case live.once '[ RUN ]\n\na_test.cpp:7: Failure\n  1 &lt; 2\n[ FAILED ]\n'
  failed_case script '1\n2\n3\n4\n5\nx is 6, not 7\n'
} >results.xml
ctest_case live.once run >again-1.xml
awk -f "$script" results.xml again-1.xml | tr '\n' ';' >told
printf '%s' 'flaky: live.once;  a_test.cpp:7: Failure;    1 < 2;  [ FAILED ];' \
  'failed: script;  2;  3;  4;  5;  x is 6, not 7;1 passed, 1 failed, 0 skipped;' >wanted
cmp -s told wanted || { echo "what failed tests printed: $(cat told)"; bad=1; }
exit "$bad"
