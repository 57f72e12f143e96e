// A name of a symbol table.
#include <string>

#include "fuzz/fuzz_target.h"
#include "symbolize/names/demangle.h"

namespace memtrace::fuzz {

void fuzz_demangle(Input input) {
  // Names in a file end with NUL.
  const std::string text(text_of(input).substr(0, text_of(input).find('\0')));
  static_cast<void>(demangle(text));
  static_cast<void>(demangle("_Z" + text));
  static_cast<void>(demangle("_R" + text));
}

}  // namespace memtrace::fuzz
