#!/bin/sh
# tools/tidy_one reads the rooms of a group as one file. It says nothing of good sources, and names the
# source and the line of what is planted there, also of what the static analyzer finds along a path.
# Run: tidy_selftest.sh SCRATCH_FOLDER
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
rooms=$scratch/build/CMakeFiles
bad=0
if ! command -v clang-tidy >/dev/null; then
  echo "SKIPPED: clang-tidy is not installed"
  exit 77
fi

# Two rooms: the first has two sources.
plant() {
  rm -rf "$scratch"
  mkdir -p "$scratch/said" "$rooms/first.dir/Unity" "$rooms/second.dir/Unity"
  printf 'int shared();\n' >"$scratch/shared.h"
  for source in one two three; do
    printf '#include "%s"\nint %s() { return shared(); }\n' "$scratch/shared.h" $source \
      >"$scratch/$source.cpp"
  done
  sed -i '1i #pragma once' "$scratch/shared.h"
  printf '#include "%s"\n#include "%s"\n' "$scratch/one.cpp" "$scratch/two.cpp" \
    >"$rooms/first.dir/Unity/unity_0_cxx.cxx"
  printf '#include "%s"\n' "$scratch/three.cpp" >"$rooms/second.dir/Unity/unity_0_cxx.cxx"
  for room in first second; do
    file=$rooms/$room.dir/Unity/unity_0_cxx.cxx
    printf '{"directory": "%s", "command": "clang++ -std=c++20 -c %s", "file": "%s"}\n' "$scratch" \
      "$file" "$file"
  done | sed '1s/^/[/; 1s/$/,/; 2s/$/]/' >"$scratch/compile_commands.json"
}

read_group() {
  group=$rooms/first.dir/Unity/unity_0_cxx.cxx\ $rooms/second.dir/Unity/unity_0_cxx.cxx
  "$here/../../tools/tidy_one" "$scratch/said" "$group" clang-tidy -p "$scratch" \
    --config-file="$here/../../.clang-tidy" --quiet
  status=$?
  cat "$scratch/said/"*.txt
  return $status
}

expect_complaint() { # START ABOUT, the planting command having run
  said=$(read_group) && { echo "not found: $2"; bad=1; }
  echo "$said" | grep -F -- "$2" | grep -q "^$scratch/$1: " ||
    { echo "not named: $1 $2 in: $said"; bad=1; }
}

expect_nothing() { # ABOUT
  said=$(read_group) || { echo "refused $1: $said"; bad=1; }
  [ -z "$said" ] || { echo "spoke of $1: $said"; bad=1; }
}

plant
expect_nothing "what is good"
plant; echo 'int Capital() { return 3; }' >>"$scratch/two.cpp"
expect_complaint two.cpp:3:5 "readability-identifier-naming"
plant; echo 'int Capital() { return 3; }' >>"$scratch/three.cpp"
expect_complaint three.cpp:3:5 "readability-identifier-naming"
plant
cat >>"$scratch/one.cpp" <<'CODE'
int through_nothing(int* pointer) {
  if (pointer == nullptr) {
    return *pointer;
  }
  return 0;
}
CODE
expect_complaint one.cpp:5:12 "clang-analyzer-core.NullDereference"
plant
cat >>"$scratch/one.cpp" <<'CODE'
void forget() {
  int* owned = new int(3);
  *owned = 4;
}
CODE
expect_complaint one.cpp:4:3 "cppcoreguidelines-owning-memory"

# What the build makes is nobody's style.
plant
echo 'int Capital() { return 3; }' >"$scratch/build/made.cpp"
printf '#include "%s"\n' "$scratch/build/made.cpp" >>"$rooms/first.dir/Unity/unity_0_cxx.cxx"
expect_nothing "a source that the build made"

# One name for two things: the rooms are read one by one, and a fault of either is still found.
plant_one_name_twice() {
  plant
  for source in one three; do
    printf 'namespace {\nint twice() { return 2; }\n}  // namespace\nint %s_twice() { return twice(); }\n' \
      $source >>"$scratch/$source.cpp"
  done
}
plant_one_name_twice
expect_nothing "a name that two rooms have"
for faulty in one three; do
  plant_one_name_twice
  echo 'int Capital() { return 3; }' >>"$scratch/$faulty.cpp"
  expect_complaint "$faulty.cpp:7:5" "readability-identifier-naming"
done
rm -rf "$scratch"
exit "$bad"
