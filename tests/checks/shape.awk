# Reads tags of functions, their declarations and data members, as shape.sh asks ctags for them.
BEGIN { FS = "\t" }
/^!/ { next }
{
  name = $1; file = $2; line = $3; kind = $4
  sub(/;"$/, "", line)
  scope = ""; scope_kind = ""; parameters = ""; is_static = 0
  for (i = 5; i <= NF; ++i) {
    if ($i ~ /^(class|struct):/) {
      scope_kind = $i; sub(/:.*/, "", scope_kind)
      scope = $i; sub(/^[a-z]*:/, "", scope)
    }
    if ($i ~ /^signature:/) { parameters = $i; sub(/^signature:/, "", parameters) }
    if ($i ~ /^properties:.*static/) { is_static = 1 }
  }
}
kind == "member" && scope_kind == "class" && !is_static {
  if (++members[scope] == 16) { complain("the class " plain(scope) " has more than 15 data members") }
}
kind == "function" && scope != "" && file ~ /\.cpp$/ {
  if (!(scope in home)) { home[scope] = file }
  if (home[scope] != file && !told[scope, file]++) {
    complain("functions of " plain(scope) " stand in " home[scope] ", too")
  }
}
(kind == "function" || kind == "prototype") && count(parameters) > 5 {
  complain("the function " name " has more than 5 parameters")
}
END { exit bad }

function complain(what) {
  printf "%s:%d: %s\n", file, line, what
  bad = 1
}

# Without the names that ctags makes up for namespaces that have none.
function plain(scope) {
  gsub(/__anon[0-9a-f]+::/, "", scope)
  return scope
}

# Commas that are not inside of template arguments, calls and braces.
function count(parameters, i, c, depth, commas) {
  if (parameters ~ /^\( *(void)? *\)/ || parameters == "") { return 0 }
  for (i = 2; i < length(parameters); ++i) {
    c = substr(parameters, i, 1)
    if (index("<({[", c)) { ++depth }
    if (index(">)}]", c)) { --depth }
    if (c == "," && depth == 0) { ++commas }
  }
  return commas + 1
}
