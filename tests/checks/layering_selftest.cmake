# Plants one violation at a time in a tree of its own and expects layering.cmake to name it.
# Run: cmake -DSCRATCH=<folder> -P layering_selftest.cmake
cmake_minimum_required(VERSION 3.20)

set(rooms ${CMAKE_CURRENT_LIST_DIR}/../../rooms.cmake)

function(run_check result output)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DROOT=${SCRATCH} -DROOMS=${rooms}
            -P ${CMAKE_CURRENT_LIST_DIR}/layering.cmake
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  set(${result} ${status} PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

function(expect_violation file text)
  file(WRITE ${SCRATCH}/${file} "${text}\n")
  run_check(status output)
  if(status EQUAL 0)
    message(SEND_ERROR "not found: ${file}: ${text}")
  elseif(NOT output MATCHES "${file}: ")
    message(SEND_ERROR "found, but ${file} is not named: ${output}")
  endif()
  file(REMOVE ${SCRATCH}/${file})
endfunction()

function(expect_clean file text)
  file(WRITE ${SCRATCH}/${file} "${text}\n")
  run_check(status output)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "refused: ${file}: ${text}: ${output}")
  endif()
  file(REMOVE ${SCRATCH}/${file})
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH}/src)

expect_violation(src/base/a.h "#include \"perf/record/record.h\"")
expect_violation(src/perf/live/a.cpp "#include \"tracepoints/event/event.h\"")
expect_violation(src/perf/record/a.cpp "#include \"perf/event/event_attr.h\"")
expect_violation(src/report/a.h "#include \"state/world/world.h\"")
expect_violation(src/state/world/a.h "#include \"views/view.h\"")
expect_violation(src/state/world/a.cpp "#include \"tracepoints/format/format.h\"")
expect_violation(src/state/process/a.cpp "#include \"symbolize/names/symbolizer.h\"")
expect_violation(src/views/heap/a.cpp "#include \"symbolize/elf/code_location.h\"")
expect_violation(src/views/heap/a.cpp "#include \"views/fault/fault_cost.h\"")
expect_violation(src/render/a.cpp "#include \"views/view.h\"")
expect_violation(src/session/a.cpp "#include \"render/renderer.h\"")
expect_violation(src/views/a.cpp "#include \"../render/renderer.h\"")
expect_violation(src/session/a.cpp "#include <boost/program_options.hpp>")
expect_violation(symbolize/elf/a.cpp "#include <tracefs.h>")
expect_violation(src/perf/live/a.cpp "#include <traceevent/event-parse.h>")
expect_violation(tracepoints/decode/a.cpp "#include <elfutils/libdw.h>")
expect_violation(src/perf/live/a.cpp "#  include <gelf.h>")
expect_violation(src/session/a.cpp "#include <linux/perf_event.h>")
expect_violation(src/views/kit/a.cpp "#include <nlohmann/json.hpp>")
expect_violation(src/perf/live/a.cpp "  ::close(fd);")
expect_violation(src/perf/live/a.cpp "  void* pages = ::mmap(nullptr, 1, 0, 0, fd, 0);")
expect_violation(src/util/a.cpp "")
file(REMOVE_RECURSE ${SCRATCH}/src/util)

expect_clean(src/state/world/a.h "#include \"tracepoints/event/event.h\"")
expect_clean(src/cli/options/a.cpp "#include <boost/program_options.hpp>")
expect_clean(symbolize/elf/a.cpp "#include <elfutils/libdwfl.h>")
expect_clean(src/os/a.cpp "  ::close(fd);")
expect_clean(src/perf/event/a.cpp "void Ring::close() {}")

# A folder of 26 files, and rooms that see each other.
foreach(number RANGE 1 25)
  file(WRITE ${SCRATCH}/src/render/file${number}.h "")
endforeach()
expect_clean(src/report/a.h "")
file(WRITE ${SCRATCH}/src/render/file26.h "")
run_check(status output)
if(NOT output MATCHES "src/render: 26 files")
  message(SEND_ERROR "a folder of 26 files is not named: ${output}")
endif()
file(REMOVE_RECURSE ${SCRATCH}/src/render)
file(WRITE ${SCRATCH}/rooms.cmake
     "memtrace_room(src/a \"a\" SEES b)\nmemtrace_room(src/b \"b\" SEES a)\n")
set(rooms ${SCRATCH}/rooms.cmake)
run_check(status output)
if(NOT output MATCHES "src/a: sees b")
  message(SEND_ERROR "rooms that see each other are not named: ${output}")
endif()
file(REMOVE_RECURSE ${SCRATCH})
