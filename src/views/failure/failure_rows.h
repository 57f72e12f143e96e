// Refusals of memory that are alike: by whom, of what, and why.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "report/report.h"
#include "views/reason/reason.h"

namespace memtrace {

struct Failure {
  std::string_view kind;  // "call", "pages", "kill"
  std::string what;       // "mmap", "order 3", "kill"
  std::string comm;
  std::uint32_t pid = 0;
  Reason reason;  // of the last one
  std::uint64_t count = 0;
  std::uint64_t last_ns = 0;
  std::string clock = {};  // the same as a log has it
};

class FailureRows {
 public:
  // One more, or as many as its count.
  void add(Failure failure);

  bool empty() const { return rows_.empty(); }

  std::uint64_t count(std::string_view kind) const;

  // Kills first, then what was refused most often. In text: a paragraph each. Without a begin the
  // time is what a log says.
  Table table(std::optional<std::uint64_t> start_ns) const;

  void clear() { rows_.clear(); }

 private:
  using Key = std::tuple<std::uint32_t, std::string, std::string_view>;  // pid, what, code

  std::map<Key, Failure> rows_;
};

}  // namespace memtrace
