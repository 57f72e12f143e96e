#include "symbolize/elf/program_interpreter.h"

#include "symbolize/elf/elf_file.h"

namespace memtrace {

std::string program_interpreter(const std::string& path) {
  const auto file = ElfFile::open(path);
  const auto section = file.ok() ? file.value().section(".interp") : std::nullopt;
  if (!section) {
    return "";
  }
  const auto bytes = section->content();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace memtrace
