// The kernel's filter expressions over numbers (Documentation/trace/events.rst, 5. Event
// filtering), tested here where the kernel cannot: on samples of the uprobe PMU, and where it does
// not, on those of child processes. libtraceevent's tep_filter_match() tests a record of a format
// file; these values come from registers and have no such record.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

class FilterExpression {
 public:
  // "size >= 100 && !(size == 4096 || size & 1)". Error: Usage, what is no such expression, or
  // compares text.
  static Result<FilterExpression> parse(std::string_view text);

  // Every field that is compared, each once.
  const std::vector<std::string>& fields() const { return fields_; }

  // `values` are those of fields(), in their order; those that `are_signed` were sign-extended.
  bool accepts(const std::vector<std::uint64_t>& values,
               const std::vector<bool>& are_signed = {}) const;

 private:
  enum class Op : std::uint8_t { Equal, NotEqual, Less, LessEqual, More, MoreEqual, Bits };
  enum class Step : std::uint8_t { Compare, Not, And, Or };

  // In the order of evaluation: operands before what joins them.
  struct Node {
    Step step = Step::Compare;
    Op op = Op::Equal;
    std::size_t field = 0;
    std::uint64_t value = 0;
  };

  class Parser;

  template <typename Number>
  static bool compare(Op op, Number left, Number right);

  std::vector<Node> nodes_;
  std::vector<std::string> fields_;
};

}  // namespace memtrace
