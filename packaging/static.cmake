# Everything in one file: only static libraries are found, with what they need themselves.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(Boost_USE_STATIC_LIBS ON)
# pkg-config tells of these only where libdw is linked statically; tracefs stands before traceevent.
set(static_of_dw bz2 lzma z)
set(static_link_options -static)
# Capstone's library decodes a dozen architectures and its table of them holds all: 3 MB of the
# program. Those without probe placement are left out of the table.
foreach(architecture ARM EVM M680X M68K Mips PPC Sparc SystemZ TMS320C64x XCore)
  list(APPEND static_link_options -Wl,--defsym=${architecture}_global_init=0
       -Wl,--defsym=${architecture}_option=0)
endforeach()
