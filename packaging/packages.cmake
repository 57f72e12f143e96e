# cmake --install, and packages by cpack -G DEB and cpack -G RPM: the program, its manual pages and
# completions.
include(GNUInstallDirs)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/memtrace.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME memtrace)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/_memtrace
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What is installed is the program and texts: the tests need not be built for it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(CPACK_PACKAGE_NAME memtrace)
set(CPACK_PACKAGE_VENDOR memtrace)
set(CPACK_PACKAGE_CONTACT "memtrace developers <memtrace@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Who uses memory on a Linux machine, and how, without BPF")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "GPL-2.0-or-later")
# No links from /usr/lib/.build-id, whose folders belong to nobody.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none")
# Directories that belong to others' packages.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/share/zsh /usr/share/zsh/site-functions /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/man /usr/share/man/man1 /usr/share/man/man7)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
