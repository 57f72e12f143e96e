# Whether memtrace-kernels(7) says of kernel `name` what its doctor says:
#   awk -v name=debian-6.1 -f page_check.awk man/memtrace-kernels.7 doctor.json
# Prints each view of which it does not. A kernel that the page does not have is not looked for.

function value(line) {
  sub(/^[^:]*: "/, "", line)
  sub(/",?$/, "", line)
  return line
}

function short(state) {
  return state == "works" ? "-" : state == "in part" ? "part" : state == "cannot" ? "no" : state
}

# The column of `name`: its family is in the first line, its version below, to the right of it.
function find_column(versions, count, i, at, family, place) {
  count = split(versions, words, " ")
  at = 1
  for (i = 1; i <= count; i++) {
    at = index(substr(versions, at), words[i]) + at - 1
    family = ""
    for (place = 1; place <= at && place <= length(families); place++) {
      if (match(substr(families, place), /^[a-z]+/) && (place == 1 || substr(families, place - 1, 1) == " ")) {
        family = substr(families, place, RLENGTH)
      }
    }
    if (family "-" words[i] == name) {
      return i
    }
    at += length(words[i])
  }
  return 0
}

FNR == NR && /^\.Bd -literal/ { line = 1; next }
FNR == NR && /^\.Ed/ { line = 0 }
FNR == NR && line == 1 { families = $0; line = 2; next }
FNR == NR && line == 2 { column = find_column($0); line = 3; next }
FNR == NR && line == 3 { page[$1] = $(column + 1) }
FNR == NR { next }
column == 0 { exit }
/^ *"title": / { view = "" }  # the table of views has them
/^ *"view": / && FNR > 10 { view = value($0) }
/^ *"state": / && view != "" {
  ++checked
  if (page[view] != short(value($0))) {
    printf "memtrace-kernels(7) says \"%s\" of %s on %s, its doctor \"%s\"\n", page[view], view, name,
      short(value($0))
    wrong = 1
  }
}
END { exit(wrong || (column > 0 && checked == 0)) }
