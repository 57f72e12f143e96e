// A report as stacks with weights: what all formats for flame graphs and profilers are made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "report/report.h"

namespace memtrace {

// A cost that adds up over stacks: "bytes_alloc" in bytes.
struct WeightKind {
  std::string name{};
  Unit unit = Unit::Count;
};

// What a row was grouped by beside its stack: "comm" is "demo", "pid" is 12.
struct ProfileLabel {
  std::string name{};
  std::variant<std::string, std::uint64_t> value{};
};

// One step on the way from the root to the innermost function.
struct ProfileStep {
  std::string name{};            // may be shown as it is (base/visible.h)
  const Frame* frame = nullptr;  // null: no place in code
  bool is_label = false;         // of a key that is a label, too
};

// Whose code a step is in. A shared object is recognised by its name.
enum class CodeKind : std::uint8_t { None, Program, Library, Kernel };

CodeKind code_kind(const ProfileStep& step);

struct WeightedStack {
  std::vector<ProfileLabel> labels{};
  std::vector<ProfileStep> steps{};     // outermost first, never empty
  std::vector<std::int64_t> weights{};  // one for each kind; what is not known weighs nothing
};

// Borrows the report's frames.
struct StackProfile {
  const Report* report = nullptr;  // never null
  std::vector<WeightKind> kinds{};
  std::size_t main_kind = 0;  // the cost that the table is sorted by
  bool has_stacks = false;    // false: the keys alone are the steps
  std::vector<WeightedStack> stacks{};

  // The sum of all stacks.
  std::int64_t total(std::size_t kind) const;
};

// A profile of the report, or of each report of an overview. It is made from the first table with
// stacks, or else the first with text keys: two tables of one report describe the same events, and
// both together would count them twice. The sum of the rows that were cut is left out.
std::vector<StackProfile> stack_profiles(const Report& report);

// "kmalloc" of a view, "kmalloc: bytes_alloc" of a cost of it.
std::string profile_title(const StackProfile& profile);
std::string profile_title(const StackProfile& profile, std::size_t kind);

}  // namespace memtrace
