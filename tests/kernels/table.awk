# What each view can do on each kernel, of the doctors' answers, folder/NAME/doctor.json each: the
# table of memtrace-kernels(7), and below it the findings.

function value(line) {
  sub(/^[^:]*: "/, "", line)
  sub(/",?$/, "", line)
  return line
}

function short(state) {
  return state == "works" ? "-" : state == "in part" ? "part" : state == "cannot" ? "no" : state
}

FNR == 1 {
  count = split(FILENAME, parts, "/")
  kernel = parts[count - 1]
  kernels[++kernel_count] = kernel
}
/^ *"title": / { view = "" }  # the table of views has them
/^ *"view": / && FNR > 10 {
  view = value($0)
  if (!(view in known)) {
    known[view] = 1
    views[++view_count] = view
  }
}
/^ *"state": / && view != "" { states[view, kernel] = value($0) }
/^ *"findings": / && value($0) != "" {
  line = view ": " value($0)
  if (!(line in where)) {
    findings[++finding_count] = line
  }
  where[line] = where[line] (where[line] == "" ? "" : ", ") kernel
}

END {
  row = sprintf("%-12s", "")
  for (k = 1; k <= kernel_count; k++) {
    row = row sprintf(" %-13s", kernels[k])
  }
  print row
  for (v = 1; v <= view_count; v++) {
    row = sprintf("%-12s", views[v])
    for (k = 1; k <= kernel_count; k++) {
      row = row sprintf(" %-13s", short(states[views[v], kernels[k]]))
    }
    sub(/ +$/, "", row)
    print row
  }
  print ""
  for (f = 1; f <= finding_count; f++) {
    print where[findings[f]] ": " findings[f]
  }
}
