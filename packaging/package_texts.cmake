# cpack runs this before it packs the files that it has laid out: compresses the manual pages, as both
# kinds of package have them, and gives a .deb the texts that chapter 12 of Debian's policy asks for,
# copyright and changelog.
function(compress)
  execute_process(COMMAND gzip -9n ${ARGN} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "gzip: ${status}")
  endif()
endfunction()

set(root ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
file(GLOB pages ${root}/man/man*/*.[17])
compress(${pages})
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(texts ${root}/doc/memtrace)
# As Debian has the text of the licence itself, a package brings none.
file(REMOVE ${texts}/LICENSE)
file(COPY ${CPACK_MEMTRACE_SOURCE}/packaging/copyright DESTINATION ${texts})

# The same source gives the same package: its time is that of the last commit.
if("$ENV{SOURCE_DATE_EPOCH}" STREQUAL "")
  execute_process(
    COMMAND git -C ${CPACK_MEMTRACE_SOURCE} log -1 --format=%ct
    OUTPUT_VARIABLE committed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(committed)
    set(ENV{SOURCE_DATE_EPOCH} ${committed})
  endif()
endif()
string(TIMESTAMP time "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${texts}/changelog
     "memtrace (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}, packaged from its source tree.

 -- ${CPACK_PACKAGE_CONTACT}  ${time}
")
compress(${texts}/changelog)
