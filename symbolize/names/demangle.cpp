#include "symbolize/names/demangle.h"

#include <csetjmp>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

namespace memtrace {
namespace {

// The demanglers take stack space in proportion to the name: a hostile one must not use it up.
constexpr std::size_t kMaxMangledBytes = 8192;

// A name may refer back to its own parts, twice each time: its text doubles with every few
// characters.
constexpr std::size_t kMaxReadableBytes = 65536;

struct Readable {
  std::string text;
  std::jmp_buf too_long;
};

// libiberty has no way to stop it early. It is C and owns nothing here that a jump would lose.
void append(const char* part, std::size_t bytes, void* to) {
  auto& readable = *static_cast<Readable*>(to);
  if (readable.text.size() + bytes > kMaxReadableBytes) {
    std::longjmp(readable.too_long, 1);
  }
  readable.text.append(part, bytes);
}

using Demangler = int (*)(const char* mangled, int options, demangle_callbackref, void* opaque);

std::optional<std::string> demangle_with(Demangler demangler, const std::string& mangled) {
  const auto readable = std::make_unique<Readable>();
  readable->text.reserve(kMaxReadableBytes);  // append() then never throws through libiberty
  if (setjmp(readable->too_long) != 0) {
    return std::nullopt;
  }
  if (demangler(mangled.c_str(), DMGL_PARAMS, &append, readable.get()) == 0) {
    return std::nullopt;
  }
  return std::string(readable->text);
}

}  // namespace

std::string demangle(const std::string& name) {
  const bool is_mangled = name.starts_with("_Z") || name.starts_with("_R");
  if (!is_mangled || name.size() > kMaxMangledBytes) {
    return name;
  }
  // ThinLTO numbers what it makes visible to other units; the demanglers stumble over that.
  const std::string mangled = name.substr(0, name.find(".llvm."));
  // Rust first: its legacy names are C++ names with a hash.
  for (const Demangler demangler : {&rust_demangle_callback, &cplus_demangle_v3_callback}) {
    if (auto readable = demangle_with(demangler, mangled)) {
      return std::move(*readable);
    }
  }
  return name;
}

}  // namespace memtrace
