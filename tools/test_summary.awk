# Reads JUnit files and prints why each skipped test was skipped, then one line of sums. Fails when a
# test failed or none passed. The files are ctest's, after those of the test programs that run all
# their tests in one process (Testing/address_sanitizer.perf.xml). ctest has such a program as one test,
# which counts only if it failed with no word of a failure in its own file: it died or leaked memory.
#
# Last come the files of live tests that failed and ran again (Testing/again-1.xml). One that passed
# then is named ("flaky: NAME") and counts as passed. Below the name of a test that failed stand the
# first failure that GoogleTest printed, or the last lines that a script printed.

function attribute(name) {
  return match($0, " " name "=\"[^\"]*\"") ? \
    substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : ""
}

function plain(text) {
  gsub(/&#x0A;/, " ", text)
  gsub(/&lt;/, "<", text)
  gsub(/&gt;/, ">", text)
  gsub(/&quot;/, "\"", text)
  gsub(/&apos;/, "'", text)
  gsub(/&amp;/, "\\&", text)
  return text
}

# Keeps five lines of what a failed test printed: see above.
function keep_words(    i, from) {
  from = failure_at ? failure_at : line_count > 5 ? line_count - 4 : 1
  for (i = from; i <= line_count && i < from + 5; ++i) {
    words_of[name] = words_of[name] "  " plain(lines[i]) "\n"
  }
}

# One that failed in an earlier file.
function close_repeated() {
  if (result == "run" && name in failed) {
    delete failed[name]
    counts["fail"]--
    counts["run"]++
    flaky[++flaky_count] = name
  }
}

# Counts the test that has been read.
function close_test() {
  if (is_again) {
    close_repeated()
    return
  }
  if (name in failures_within) {
    result = result == "run" || failures_within[name] > 0 ? "counted" : "fail"
  }
  counts[result]++
  if (result == "fail") {
    failed[name] = 1
    keep_words()
  }
  if (program != "") {
    failures_within[program] += result == "fail"
  }
  if (result == "notrun" || result == "disabled") {
    print "skipped: " name ": " (reason == "" ? "no reason given" : reason)
  }
}

FNR == 1 {
  program = ""
  is_again = FILENAME ~ /again-[0-9]+\.xml$/
  if (FILENAME ~ /_sanitizer\.[a-z]+\.xml$/) {
    program = FILENAME
    sub(/.*\//, "", program)
    sub(/\.xml$/, "", program)
    failures_within[program] = 0
  }
}

/<testcase / {
  name = plain(attribute("name"))
  result = attribute("status")
  reason = ""
  in_reason = 0
  line_count = 0
  failure_at = 0
}

# What a test of ctest's file printed: it begins in the line of its tag.
program == "" && (/^\t\t<system-out>/ || !/^\t/) {
  line = $0
  gsub(/^\t\t<system-out>|<\/system-out>$/, "", line)
  if (line != "") {
    lines[++line_count] = line
  }
  if (!failure_at && line ~ /: Failure$/) {
    failure_at = line_count
  }
}

# A test program's own file: GoogleTest's "run" means that the test was not switched off.
program != "" && /<testcase / {
  name = program "." plain(attribute("classname")) "." name
}
program != "" && /<testcase .*\/>$/ { close_test() }
program != "" && /^ *<failure / {
  result = "fail"
  lines[++line_count] = attribute("message")
}
program != "" && /^ *<skipped / {
  result = result == "fail" ? "fail" : "notrun"
  reason = plain(attribute("message"))
  sub(/^[^ ]*:[0-9]+ */, "", reason)
}

# A test whose program is not there is "notrun", too, and is a failure for ctest and for us.
program == "" && /<skipped / && attribute("message") !~ /^SKIP_/ { result = "fail" }

# GoogleTest: "file.cpp:12: Skipped", then what GTEST_SKIP was given. Our scripts: "SKIPPED: why".
program == "" && /: Skipped$/ { in_reason = 1; next }
program == "" && /SKIPPED: / {
  reason = substr($0, index($0, "SKIPPED: ") + 9)
  sub(/<.*/, "", reason)
  reason = plain(reason)
}
in_reason && (/^$/ || /^\[/) { in_reason = 0 }
in_reason { reason = reason (reason == "" ? "" : " ") plain($0) }

/<\/testcase>/ { close_test() }

END {
  for (i = 1; i <= flaky_count; ++i) {
    printf "flaky: %s\n%s", flaky[i], words_of[flaky[i]]
  }
  for (name in failed) {
    printf "failed: %s\n%s", name, words_of[name]
  }
  failures = counts["fail"] + 0
  passed = counts["run"] + 0
  printf "%d passed, %d failed, %d skipped\n", passed, failures, counts["notrun"] + counts["disabled"]
  exit(failures > 0 || passed == 0)
}
