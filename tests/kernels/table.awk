# Of the doctors' answers, folder/NAME/doctor.json each: what each view can do on each kernel, as a
# table in Markdown, and below it what stands in for what.

function value(line) {
  sub(/^[^:]*: "/, "", line)
  sub(/",?$/, "", line)
  return line
}

FNR == 1 {
  count = split(FILENAME, parts, "/")
  kernel = parts[count - 1]
  kernels[++kernel_count] = kernel
}
/^ *"view": / && FNR > 10 {
  view = value($0)
  if (!(view in known)) {
    known[view] = 1
    views[++view_count] = view
  }
}
/^ *"state": / { states[view, kernel] = value($0) }
/^ *"findings": / && value($0) != "" {
  line = "`" view "`: " value($0)
  if (!(line in where)) {
    findings[++finding_count] = line
  }
  where[line] = where[line] (where[line] == "" ? "" : ", ") kernel
}

END {
  header = "| view |"
  rule = "|---|"
  for (k = 1; k <= kernel_count; k++) {
    header = header " " kernels[k] " |"
    rule = rule "---|"
  }
  print header "\n" rule
  for (v = 1; v <= view_count; v++) {
    row = "| `" views[v] "` |"
    for (k = 1; k <= kernel_count; k++) {
      row = row " " states[views[v], kernels[k]] " |"
    }
    print row
  }
  print ""
  for (f = 1; f <= finding_count; f++) {
    print "- " where[findings[f]] ": " findings[f]
  }
}
