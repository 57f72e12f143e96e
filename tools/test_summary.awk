# Reads the JUnit file that ctest writes and prints why each skipped test was skipped, then one line
# of sums. Fails when a test failed or none passed.

function attribute(name) {
  return match($0, " " name "=\"[^\"]*\"") ? \
    substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : ""
}

function plain(text) {
  gsub(/&lt;/, "<", text)
  gsub(/&gt;/, ">", text)
  gsub(/&quot;/, "\"", text)
  gsub(/&apos;/, "'", text)
  gsub(/&amp;/, "\\&", text)
  return text
}

/<testcase / {
  name = plain(attribute("name"))
  result = attribute("status")
  reason = ""
  in_reason = 0
}

# A test whose program is not there is "notrun", too, and is a failure for ctest and for us.
/<skipped / && attribute("message") !~ /^SKIP_/ { result = "fail" }

# GoogleTest: "file.cpp:12: Skipped", then what GTEST_SKIP was given. Our scripts: "SKIPPED: why".
/: Skipped$/ { in_reason = 1; next }
/SKIPPED: / {
  reason = substr($0, index($0, "SKIPPED: ") + 9)
  sub(/<.*/, "", reason)
  reason = plain(reason)
}
in_reason && (/^$/ || /^\[/) { in_reason = 0 }
in_reason { reason = reason (reason == "" ? "" : " ") plain($0) }

/<\/testcase>/ { counts[result]++ }

/<\/testcase>/ && (result == "notrun" || result == "disabled") {
  print "skipped: " name ": " (reason == "" ? "no reason given" : reason)
}

END {
  failed = counts["fail"] + 0
  passed = counts["run"] + 0
  printf "%d passed, %d failed, %d skipped\n", passed, failed, counts["notrun"] + counts["disabled"]
  exit(failed > 0 || passed == 0)
}
