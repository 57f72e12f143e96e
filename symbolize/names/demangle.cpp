#include "symbolize/names/demangle.h"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "symbolize/names/rust_v0.h"

namespace memtrace {

namespace {

// __cxa_demangle takes stack space in proportion to the name: a hostile one must not use it up.
constexpr std::size_t kMaxMangledBytes = 8192;

constexpr std::string_view kHashStart = "::h";
constexpr std::size_t kHashDigits = 16;

// Rust's legacy mangling is C++'s with a last component "h" and 16 hex digits, and with the
// characters that C++ names cannot hold written as $..$ (rustc: legacy.rs, sanitize()).
std::optional<std::string_view> without_rust_hash(std::string_view name) {
  const std::size_t tail_bytes = kHashStart.size() + kHashDigits;
  if (name.size() <= tail_bytes) {
    return std::nullopt;
  }
  const auto tail = name.substr(name.size() - tail_bytes);
  const bool is_hash =
      tail.starts_with(kHashStart) &&
      tail.substr(kHashStart.size()).find_first_not_of("0123456789abcdef") == tail.npos;
  return is_hash ? std::optional(name.substr(0, name.size() - tail_bytes)) : std::nullopt;
}

// The text that a $..$ escape stands for; "" for one that is not known.
std::string rust_escape(std::string_view code) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kEscapes = {{
      {"SP", "@"},
      {"BP", "*"},
      {"RF", "&"},
      {"LT", "<"},
      {"GT", ">"},
      {"LP", "("},
      {"RP", ")"},
      {"C", ","},
  }};
  for (const auto& [escape, text] : kEscapes) {
    if (code == escape) {
      return std::string(text);
    }
  }
  if (code.starts_with('u')) {
    const auto point = parse_number(code.substr(1), 16);
    if (point && *point >= ' ' && *point < 0x7f) {
      return std::string(1, static_cast<char>(*point));
    }
  }
  return "";
}

std::string rust_unescape(std::string_view name) {
  std::string plain;
  std::size_t at = 0;
  while (at < name.size()) {
    const bool component_start = at == 0 || name[at - 1] == ':';
    const auto rest = name.substr(at);
    const std::size_t end = rest.starts_with('$') ? rest.find('$', 1) : rest.npos;
    const std::string text = end == rest.npos ? "" : rust_escape(rest.substr(1, end - 1));
    if (!text.empty()) {
      plain += text;
      at += end + 1;
    } else if (component_start && rest.starts_with("_$")) {
      at += 1;  // an underscore that only kept the component from beginning with $
    } else if (rest.starts_with("..")) {
      plain += "::";
      at += 2;
    } else {
      plain += rest.front();
      at += 1;
    }
  }
  return plain;
}

}  // namespace

std::string demangle(const std::string& name) {
  if (auto rust = demangle_rust_v0(name)) {
    return *rust;
  }
  if (!name.starts_with("_Z") || name.size() > kMaxMangledBytes) {
    return name;
  }
  // ThinLTO numbers what it makes visible to other units; the demangler stumbles over that.
  const std::string mangled = name.substr(0, name.find(".llvm."));
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || readable == nullptr) {
    return name;
  }
  const std::string_view text = readable.get();
  const auto rust = without_rust_hash(text);
  return rust ? rust_unescape(*rust) : std::string(text);
}

}  // namespace memtrace
