// What a fuzz target is: NAME_fuzz.cpp defines fuzz_NAME(), which gets inputs that libFuzzer makes
// up and must come to an end with each, whatever it holds. CMake makes the table of all targets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace memtrace::fuzz {

using Input = std::span<const std::byte>;

struct Target {
  std::string_view name;  // "perf_file"
  void (*run)(Input input) = nullptr;
};

std::span<const Target> all_targets();

inline std::string_view text_of(Input input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

// An input whose first bytes say how the rest is to be read.
class Choices {
 public:
  explicit Choices(Input input) : rest_(input) {}

  // The next number; 0 where the input has no more.
  template <typename Number>
  Number take() {
    Number number{};
    const Input bytes = rest_.first(rest_.size() < sizeof(Number) ? 0 : sizeof(Number));
    if (!bytes.empty()) {
      std::memcpy(&number, bytes.data(), sizeof(Number));
    }
    rest_ = rest_.subspan(bytes.size());
    return number;
  }

  Input rest() const { return rest_; }

 private:
  Input rest_;
};

}  // namespace memtrace::fuzz
