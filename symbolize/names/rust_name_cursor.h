// The smallest pieces of a Rust v0 name: characters, base-62 numbers, identifiers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace memtrace {

// After a failure everything reads as the end, so that who reads need not check at each step.
class RustNameCursor {
 public:
  struct Identifier {
    std::string text;
    std::uint64_t disambiguator = 0;
  };

  explicit RustNameCursor(std::string_view name) : name_(name) {}

  bool failed() const { return failed_; }

  void fail() { failed_ = true; }

  std::size_t position() const { return at_; }

  void go_to(std::size_t position) { at_ = position; }

  char peek() const { return failed_ || at_ >= name_.size() ? '\0' : name_[at_]; }

  char next();

  // Takes the character if it is the next one.
  bool eat(char wanted);

  std::uint64_t base62();

  // A number behind `tag`, plus one; 0 when there is none.
  std::uint64_t optional_base62(char tag);

  Identifier identifier();

 private:
  std::string_view name_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace memtrace
