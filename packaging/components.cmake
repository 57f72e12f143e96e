# What memtrace is made of: `memtrace version --build` prints it, and packages come with it as SPDX.
# A component is NAME|VERSION|LICENCE, the licence as SPDX has it.

# Of what has no version in its headers or its .pc file; NOASSERTION is SPDX's word for not known.
function(memtrace_package_version result debian_package rpm_package)
  execute_process(
    COMMAND dpkg-query -W -f=\${Version} ${debian_package}
    OUTPUT_VARIABLE version RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0)
    execute_process(
      COMMAND rpm -q --qf %{VERSION} ${rpm_package}
      OUTPUT_VARIABLE version RESULT_VARIABLE status ERROR_QUIET)
  endif()
  if(NOT status EQUAL 0)
    set(version NOASSERTION)
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

memtrace_package_version(re2_version libre2-dev re2-devel)
memtrace_package_version(iberty_version libiberty-dev binutils-devel)
memtrace_package_version(bz2_version libbz2-dev bzip2-devel)
memtrace_package_version(glibc_version libc6-dev glibc-devel)
set(memtrace_components
    "elfutils|${DW_libdw_VERSION}|GPL-2.0-or-later OR LGPL-3.0-or-later"
    "libtraceevent|${TRACEFS_libtraceevent_VERSION}|LGPL-2.1-or-later"
    "libtracefs|${TRACEFS_libtracefs_VERSION}|LGPL-2.1-or-later"
    "capstone|${CAPSTONE_VERSION}|BSD-3-Clause"
    "zstd|${ZSTD_VERSION}|BSD-3-Clause OR GPL-2.0-only"
    "zlib|${ZLIB_VERSION}|Zlib"
    "bzip2|${bz2_version}|bzip2-1.0.6"
    "xz|${LZMA_VERSION}|LicenseRef-public-domain"
    "re2|${re2_version}|BSD-3-Clause"
    "fmt|${FMT_VERSION}|MIT"
    "libiberty|${iberty_version}|LGPL-2.1-or-later"
    "boost|${Boost_VERSION_STRING}|BSL-1.0"
    "nlohmann_json|${nlohmann_json_VERSION}|MIT"
    "robin-map|${tsl-robin-map_VERSION}|MIT"
    "libstdc++|${CMAKE_CXX_COMPILER_VERSION}|GPL-3.0-or-later WITH GCC-exception-3.1"
    "glibc|${glibc_version}|LGPL-2.1-or-later")

get_directory_property(build_flags COMPILE_OPTIONS)
list(FILTER build_flags EXCLUDE REGEX "^-W|^\\$")
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(JOIN " " build_flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ${build_flags}
       ${memtrace_hardened_code} ${memtrace_hardened_links})
set(component_rows "")
foreach(component IN LISTS memtrace_components)
  string(REPLACE "|" "\", \"" row "${component}")
  string(APPEND component_rows "    {\"${row}\"},\n")
endforeach()
list(LENGTH memtrace_components component_count)
configure_file(${CMAKE_CURRENT_LIST_DIR}/build_facts.cpp.in ${CMAKE_BINARY_DIR}/build_facts.cpp @ONLY)
add_library(build_facts STATIC ${CMAKE_BINARY_DIR}/build_facts.cpp)
target_include_directories(build_facts PUBLIC ${CMAKE_SOURCE_DIR}/src)
target_compile_options(build_facts PRIVATE ${memtrace_prefix_maps} ${memtrace_hardened_code})
