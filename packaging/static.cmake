# memtrace-static: the same objects as memtrace, with all libraries inside: one stripped file that
# needs nothing else and starts on any x86-64 Linux from 2.6.32 on. Copying it is installing it.
foreach(library dw elf bz2 lzma z zstd tracefs traceevent capstone boost_program_options c stdc++)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${library}.a
    OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS ${archive})
    message(STATUS "No memtrace-static: lib${library}.a is not installed")
    return()
  endif()
endforeach()

add_executable(memtrace-static src/main.cpp packaging/old_kernels.c)
target_link_libraries(memtrace-static PRIVATE cli)
set_target_properties(memtrace-static PROPERTIES IS_STATIC ON)
# -no-pie: a static PIE relocates itself, half a megabyte of relocations and nothing gained.
target_link_options(memtrace-static PRIVATE -static -no-pie -s -Wl,--gc-sections)
# Capstone's library decodes a dozen architectures and its table of them holds all: 3 MB of the
# program. Those without probe placement are left out of the table.
foreach(architecture ARM EVM M680X M68K Mips PPC Sparc SystemZ TMS320C64x XCore)
  target_link_options(
    memtrace-static PRIVATE -Wl,--defsym=${architecture}_global_init=0
                            -Wl,--defsym=${architecture}_option=0)
endforeach()
