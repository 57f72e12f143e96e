# Writes the page as C++ data for src/render/html/page.h.
# Run: cmake -DPAGE=<page.html> -DOUTPUT=<file.cpp> -P embed.cmake
cmake_minimum_required(VERSION 3.20)

file(READ ${PAGE} text)
file(
  WRITE ${OUTPUT}.new
  "// Generated from src/render/html/page.html. Do not edit.\n"
  "#include \"render/html/page.h\"\n\nnamespace memtrace {\n\n"
  "std::string_view html_page() { return R\"htmlpage(${text})htmlpage\"; }\n\n"
  "}  // namespace memtrace\n")
configure_file(${OUTPUT}.new ${OUTPUT} COPYONLY)  # only if it has changed
