# memtrace-static: the same objects as memtrace, with all libraries inside: one stripped file that
# needs nothing else and starts on any x86-64 Linux from 2.6.32 on. Copying it is installing it.
foreach(library dw elf bz2 lzma z zstd tracefs traceevent capstone re2 iberty boost_program_options c
        stdc++)
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${library}.a
    OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS ${archive})
    message(STATUS "No memtrace-static: lib${library}.a is not installed")
    return()
  endif()
endforeach()

# What is there for old kernels stands in place of members of libc.a; another glibc may be cut
# otherwise, and link both.
set(for_old_kernels ${CMAKE_SOURCE_DIR}/packaging/old_kernels.c)
file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/old_kernels_main.c [[
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>
int main(void) {
  struct rlimit limit;
  return opendir("/") == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
         setrlimit(RLIMIT_NOFILE, &limit) != 0 || sysconf(_SC_OPEN_MAX) < 0;
}
]])
try_compile(
  OLD_KERNELS_FIT ${CMAKE_BINARY_DIR}/CMakeFiles/old_kernels
  SOURCES ${CMAKE_BINARY_DIR}/CMakeFiles/old_kernels_main.c ${for_old_kernels}
  LINK_OPTIONS -static)
if(NOT OLD_KERNELS_FIT)
  message(STATUS "memtrace-static will need Linux 2.6.39: this libc.a has another shape")
  set(for_old_kernels)
endif()

add_executable(memtrace-static src/main.cpp ${for_old_kernels})
target_link_libraries(memtrace-static PRIVATE cli)
target_compile_options(memtrace-static PRIVATE ${memtrace_prefix_maps} ${memtrace_hardened_code})
set_target_properties(memtrace-static PROPERTIES IS_STATIC ON)
# The addresses of a static PIE cannot be guessed. Any kernel starts one: to it, ld.so is one too. Its
# relocations take 0.4 MB; packed, which glibc 2.36 can read, nearly nothing. rpm would ask for a
# loader that knows a GNU hash table, of a program that needs no loader.
target_link_options(memtrace-static PRIVATE -static-pie -s -Wl,--gc-sections -Wl,--hash-style=sysv
                                            ${memtrace_hardened_links})
include(CheckLinkerFlag)
check_linker_flag(CXX -Wl,-z,pack-relative-relocs LINKER_PACKS_RELOCATIONS)
execute_process(COMMAND ldd --version OUTPUT_VARIABLE glibc_version ERROR_QUIET)
if(LINKER_PACKS_RELOCATIONS AND glibc_version MATCHES " 2\\.(3[6-9]|[4-9][0-9])")
  target_link_options(memtrace-static PRIVATE -Wl,-z,pack-relative-relocs)
endif()
# Capstone's library decodes a dozen architectures and its table of them holds all: 3 MB of the
# program. Those without probe placement are left out of the table.
foreach(architecture ARM EVM M680X M68K Mips PPC Sparc SystemZ TMS320C64x XCore)
  target_link_options(
    memtrace-static PRIVATE -Wl,--defsym=${architecture}_global_init=0
                            -Wl,--defsym=${architecture}_option=0)
endforeach()
