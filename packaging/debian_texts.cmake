# cpack runs this before it packs a .deb: gives the files that it has laid out the texts that Debian's
# policy asks for, copyright and changelog, and compresses the manual pages (its chapter 12).
set(root ${CPACK_TEMPORARY_DIRECTORY}/usr/share)
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

file(GLOB pages ${root}/man/man1/*.1)
execute_process(COMMAND gzip -9n ${texts}/changelog ${pages} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "gzip: ${status}")
endif()
