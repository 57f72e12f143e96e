# Writes the page, its style and its scripts in one piece as C++ data for src/render/html/page.h.
# Run: cmake -DPAGE=<page.html> -DOUTPUT=<file.cpp> -P embed.cmake
cmake_minimum_required(VERSION 3.20)

get_filename_component(folder ${PAGE} DIRECTORY)
file(READ ${PAGE} text)
string(REGEX MATCHALL "@[a-z]+\\.(css|js)@" places "${text}")
foreach(place IN LISTS places)
  string(REPLACE "@" "" part ${place})
  file(READ ${folder}/${part} part_text)
  string(REPLACE "${place}" "${part_text}" text "${text}")
endforeach()
file(
  WRITE ${OUTPUT}.new
  "// Generated from src/render/html/page.html. Do not edit.\n"
  "#include \"render/html/page.h\"\n\nnamespace memtrace {\n\n"
  "std::string_view html_page() { return R\"htmlpage(${text})htmlpage\"; }\n\n"
  "}  // namespace memtrace\n")
configure_file(${OUTPUT}.new ${OUTPUT} COPYONLY)  # only if it has changed
