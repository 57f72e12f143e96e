# Of a report in csv: the sum of the column over the rows of the table (1, the first, unless given)
# in which the text is found; "" when there is no such column, "blank" when no row has a figure.
BEGIN { table = table == "" ? 1 : table; at_table = 1; is_head = 1 }
/^$/ { at_table++; is_head = 1; next }
at_table != table { next }
{
  count = split_row($0)
  if (is_head) {
    is_head = 0
    for (i = 1; i <= count; i++) {
      if (cell[i] == column) {
        place = i
      }
    }
    next
  }
}
place && (text == "" || index($0, text)) {
  rows++
  if (cell[place] != "") {
    sum += cell[place]
    known++
  }
}
END { if (place) { print rows && !known ? "blank" : sum + 0 } }

# Into cell[]; a quoted one may hold commas and doubled quotes.
function split_row(line,    count, quoted, i, c) {
  count = 1
  cell[1] = ""
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (c == "\"") {
      quoted = !quoted
    } else if (c == "," && !quoted) {
      cell[++count] = ""
    } else {
      cell[count] = cell[count] c
    }
  }
  return count
}
