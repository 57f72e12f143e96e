# Renders manual pages as plain text and writes them as C++ data for src/cli/man_pages.h.
# Run: cmake -DRENDERER=<mandoc or groff> -DFOLDER=<pages> -DOUTPUT=<file.cpp> -P embed.cmake
cmake_minimum_required(VERSION 3.20)

if(RENDERER MATCHES "mandoc$")
  set(command ${RENDERER} -T ascii -O width=78 -I os=Linux)
else()
  set(command ${RENDERER} -mandoc -Tascii -P-c -rLL=78n)
endif()
string(ASCII 8 backspace)

set(definitions "")
set(entries "")
file(GLOB pages ${FOLDER}/*.1 ${FOLDER}/*.7)
list(SORT pages)
foreach(page IN LISTS pages)
  execute_process(
    COMMAND ${command} ${page}
    OUTPUT_VARIABLE text
    RESULT_VARIABLE status)
  if(NOT text)
    message(FATAL_ERROR "${RENDERER} cannot render ${page} (status ${status})")
  endif()
  # Bold and underlined letters come as letter, backspace, letter.
  string(REGEX REPLACE ".${backspace}" "" text "${text}")
  get_filename_component(name ${page} NAME_WE)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  string(APPEND definitions
         "constexpr std::string_view k_${identifier} = R\"manpage(${text})manpage\";\n\n")
  string(APPEND entries "      {\"${name}\", k_${identifier}},\n")
endforeach()

list(LENGTH pages count)
file(
  WRITE ${OUTPUT}
  "// Generated from the pages in man/. Do not edit.\n"
  "#include \"cli/man_pages.h\"\n\n#include <array>\n\nnamespace memtrace {\nnamespace {\n\n"
  "${definitions}constexpr std::array<ManPage, ${count}> kPages = {{\n${entries}}};\n\n"
  "}  // namespace\n\nstd::span<const ManPage> man_pages() { return kPages; }\n\n"
  "}  // namespace memtrace\n")
