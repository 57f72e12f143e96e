#include "symbolize/names/rust_name_cursor.h"

namespace memtrace {

char RustNameCursor::next() {
  const char now = peek();
  failed_ = failed_ || now == '\0';
  ++at_;
  return now;
}

bool RustNameCursor::eat(char wanted) {
  if (peek() != wanted) {
    return false;
  }
  ++at_;
  return true;
}

// "_" is 0, "0_" is 1.
std::uint64_t RustNameCursor::base62() {
  if (eat('_')) {
    return 0;
  }
  std::uint64_t value = 0;
  while (!failed_ && !eat('_')) {
    const char digit = next();
    unsigned number = 0;
    if (digit >= '0' && digit <= '9') {
      number = static_cast<unsigned>(digit - '0');
    } else if (digit >= 'a' && digit <= 'z') {
      number = static_cast<unsigned>(digit - 'a') + 10;
    } else if (digit >= 'A' && digit <= 'Z') {
      number = static_cast<unsigned>(digit - 'A') + 36;
    } else {
      failed_ = true;
    }
    value = value * 62 + number;
  }
  return value + 1;
}

std::uint64_t RustNameCursor::optional_base62(char tag) {
  return eat(tag) ? base62() + 1 : 0;
}

RustNameCursor::Identifier RustNameCursor::identifier() {
  Identifier read;
  read.disambiguator = optional_base62('s');
  const bool is_punycode = eat('u');
  std::size_t size_bytes = 0;
  failed_ = failed_ || peek() < '0' || peek() > '9';
  const bool is_empty = eat('0');  // closures in closures: "00" is two empty identifiers
  while (!is_empty && peek() >= '0' && peek() <= '9' && size_bytes < name_.size()) {
    size_bytes = size_bytes * 10 + static_cast<std::size_t>(next() - '0');
  }
  eat('_');
  if (failed_ || size_bytes > name_.size() - at_) {
    failed_ = true;
    return {};
  }
  read.text = name_.substr(at_, size_bytes);
  at_ += size_bytes;
  if (is_punycode) {
    read.text = "punycode{" + read.text + "}";
  }
  return read;
}

}  // namespace memtrace
