# cpack runs this before it packs the files that it has laid out: compresses the manual pages, as both
# kinds of package have them, and gives a .deb the texts that chapter 12 of Debian's policy asks for,
# copyright and changelog. Beside the package it puts a list of what is in it.
include(${CMAKE_CURRENT_LIST_DIR}/sbom.cmake)
sbom(${CPACK_PACKAGE_DIRECTORY}/memtrace-${CPACK_PACKAGE_VERSION}.${CPACK_GENERATOR}.spdx.json
     ${CPACK_TEMPORARY_DIRECTORY}/usr/bin/memtrace)
function(compress)
  execute_process(COMMAND gzip -9n ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "gzip: ${status}")
  endif()
endfunction()

set(root ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
file(GLOB pages ${root}/man/man*/*.[17])
compress(${pages})
# Files are as old as the source, not as old as this build.
function(set_times)
  if(NOT "$ENV{SOURCE_DATE_EPOCH}" STREQUAL "")
    execute_process(
      COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch --no-dereference
              --date=@$ENV{SOURCE_DATE_EPOCH} {} +
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()

if(NOT CPACK_GENERATOR STREQUAL "DEB")
  set_times()
  return()
endif()

set(texts ${root}/doc/memtrace)
# As Debian has the text of the licence itself, a package brings none.
file(REMOVE ${texts}/LICENSE)
file(COPY ${CPACK_MEMTRACE_SOURCE}/packaging/copyright DESTINATION ${texts})

string(TIMESTAMP time "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${texts}/changelog
     "memtrace (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}, packaged from its source tree.

 -- ${CPACK_PACKAGE_CONTACT}  ${time}
")
compress(${texts}/changelog)
set_times()
