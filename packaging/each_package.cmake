# cpack reads this before each package that it makes: who makes it, and which program it holds.

# Who makes a package answers for it: Debian's variables name them, or git's settings do.
function(find_packager result)
  if(NOT "$ENV{DEBEMAIL}" STREQUAL "")
    set(name "$ENV{DEBFULLNAME}")
    set(mail "$ENV{DEBEMAIL}")
  else()
    foreach(setting name mail)
      string(REPLACE mail email key user.${setting})
      execute_process(
        COMMAND git -C ${CPACK_MEMTRACE_SOURCE} config ${key}
        OUTPUT_VARIABLE ${setting} OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endforeach()
  endif()
  if("${name}" STREQUAL "" OR NOT "${mail}" MATCHES "^[^ @<>]+@[^ @<>]+[.][^ @<>]+$")
    message(FATAL_ERROR "no name and mail address of who makes this package: set DEBFULLNAME and "
                        "DEBEMAIL, or user.name and user.email of git")
  endif()
  set(${result} "${name} <${mail}>" PARENT_SCOPE)
endfunction()

find_packager(CPACK_PACKAGE_CONTACT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CPACK_PACKAGE_CONTACT}")
set(CPACK_RPM_PACKAGE_VENDOR "${CPACK_PACKAGE_CONTACT}")

# The same source gives the same package: its time is that of the last commit.
if("$ENV{SOURCE_DATE_EPOCH}" STREQUAL "")
  execute_process(
    COMMAND git -C ${CPACK_MEMTRACE_SOURCE} log -1 --format=%ct
    OUTPUT_VARIABLE committed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(committed)
    set(ENV{SOURCE_DATE_EPOCH} ${committed})
  endif()
endif()

set(build ${CPACK_MEMTRACE_BUILD})
set(CPACK_INSTALL_CMAKE_PROJECTS
    "${build};memtrace;Unspecified;/;${build};memtrace;texts;/;${build};memtrace;units;/")
if(CPACK_GENERATOR STREQUAL "RPM")
  if(NOT EXISTS ${build}/memtrace-static)
    message(FATAL_ERROR "the .rpm holds memtrace-static, which was not built: tools/build-static")
  endif()
  set(CPACK_STRIP_FILES OFF)
  set(CPACK_INSTALL_CMAKE_PROJECTS
      "${build};memtrace;static;/;${build};memtrace;texts;/;${build};memtrace;units;/")
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_texts.cmake)
