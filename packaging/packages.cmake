# cmake --install, and packages by cpack -G DEB and cpack -G RPM: the program, its manual pages and
# completions. The .deb holds memtrace and depends on the libraries of the release that built it. The
# .rpm holds memtrace-static, which needs none: RHEL 6 to 9 have other libraries each.
include(GNUInstallDirs)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/memtrace.bash COMPONENT texts
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME memtrace)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/_memtrace COMPONENT texts
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE COMPONENT texts
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB memtrace_units ${CMAKE_CURRENT_LIST_DIR}/systemd/*)
install(FILES ${memtrace_units} COMPONENT units DESTINATION lib/systemd/system EXCLUDE_FROM_ALL)
# For packages alone: cmake --install takes memtrace.
install(PROGRAMS ${CMAKE_BINARY_DIR}/memtrace-static COMPONENT static
        DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME memtrace EXCLUDE_FROM_ALL)

# What is installed is the program and texts: the tests need not be built for it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(CPACK_PACKAGE_NAME memtrace)
set(CPACK_PACKAGE_VENDOR memtrace)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "shows who uses memory on a Linux machine, without BPF")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${CMAKE_CURRENT_LIST_DIR}/description)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/each_package.cmake)
set(CPACK_MEMTRACE_SOURCE ${CMAKE_SOURCE_DIR})
set(CPACK_MEMTRACE_BUILD ${CMAKE_BINARY_DIR})
set(CPACK_MEMTRACE_COMPONENTS ${memtrace_components})

set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "GPL-2.0-or-later")
# The oldest rpm that is to read it, RHEL 6's, knows gzip for certain.
set(CPACK_RPM_COMPRESSION_TYPE gzip)
# No links from /usr/lib/.build-id, whose folders belong to nobody; and memtrace-static as it is: it is
# stripped, and a second time would change it.
# The same source gives the same package: rpm would write down when and on which host it ran.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define __strip /bin/true
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _buildhost localhost")
# Directories that belong to others' packages.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/share/zsh /usr/share/zsh/site-functions /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/man /usr/share/man/man1 /usr/share/man/man7
    /usr/lib/systemd /usr/lib/systemd/system)
include(CPack)
