# Reads what a guest said: "CHECK name relation expected got", "SKIP name reason". Prints what is
# wrong and one line of sums; fails when something is wrong or nothing was checked.

function holds(relation, expected, got) {
  if (got !~ /^[0-9]+$/) {
    return relation == "=" && expected "" == got ""
  }
  got += 0
  if (relation == "=") {
    return got == expected + 0
  }
  return relation == ">=" ? got >= expected + 0 : relation == "<=" && got <= expected + 0
}

/^KERNEL / { release = $2 }
/^BOOTED / { booted_ns = $2 }
/^GUEST DONE/ { done_ns = $3 }
/^CHECK / {
  got = $0
  sub(/^CHECK [^ ]+ [^ ]+ [^ ]+ ?/, "", got)
  if (holds($3, $4, got)) {
    passed++
  } else {
    wrong[++failed] = $2 " is " (got == "" ? "nothing" : got) ", not " $3 " " $4
  }
}
/^SKIP / {
  skipped++
  print "kernel " name ": not checked: " substr($0, 6)
}

# What is wrong comes last: summaries of tests show only the end.
END {
  for (i = 1; i <= failed; i++) {
    print "kernel " name ": " wrong[i]
  }
  printf "kernel %s (%s): %d checks passed, %d failed, %d left out; %d s from start to result\n",
    name, release, passed, failed, skipped, seconds
  exit(failed > 0 || passed == 0)
}
