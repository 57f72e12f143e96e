#!/bin/sh
# No function over 60 lines. A function is found by the layout that clang-format gives it: a "}"
# alone ends what the last line of the same indent began, at the start of a line or, for one inside
# a class, two columns in.
cd "$1" || exit 1

find src tracepoints symbolize tests tools man packaging .ci -type f 2>/dev/null |
  grep -E '\.(h|c|cpp|cmake|in|txt|sh|awk)$|^(tools|\.ci)/[a-z-]+$' | grep -Ev '/(golden|data)/' |
  xargs awk '
    { file = FILENAME }
    FILENAME !~ /\.(h|c|cpp)$/ { next }
    /^[A-Za-z[]/ { began[0] = FNR }
    /^  [A-Za-z~[]/ { began[2] = FNR }
    /^}$/ { check_function(0) }
    /^  }$/ { check_function(2) }
    function check_function(indent) {
      if (FNR - began[indent] - 1 > 60) {
        printf "%s:%d: a function of %d lines\n", file, began[indent], FNR - began[indent] - 1
        bad = 1
      }
    }
    END { exit bad }'
