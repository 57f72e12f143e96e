# What takes longest is split into four parts, 0 to 3. `tools/test` builds and runs the part of its
# commit, so that four commits see everything; `tools/test --all` and builds by hand have all of them.
set(MEMTRACE_PARTS all CACHE STRING "Which parts of the long tests to build and run: all or commit")

set(memtrace_parts 0 1 2 3)
if(MEMTRACE_PARTS STREQUAL commit)
  execute_process(
    COMMAND git rev-parse HEAD
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit MATCHES "[048c]$")
    set(memtrace_parts 0)
  elseif(commit MATCHES "[159d]$")
    set(memtrace_parts 1)
  elseif(commit MATCHES "[26ae]$")
    set(memtrace_parts 2)
  else()
    set(memtrace_parts 3)
  endif()
endif()
