// What views group by, as data: a key turns an event or a live block into one 64-bit word, and the
// word into a cell when a report is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/report.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/view.h"

namespace memtrace {

inline constexpr std::size_t kMaxKeys = 6;

// The words of one row's keys; those past the last key are 0.
struct KeyWords {
  std::array<std::uint64_t, kMaxKeys> words{};

  friend bool operator==(const KeyWords&, const KeyWords&) = default;
};

// What cells need to know besides the word or the cost that they show. A view whose columns need
// more derives a context of its own.
struct CellContext {
  const World& world;
  View::Span span;
  std::span<const FlagName> gfp_flags = {};

  double seconds() const {
    return span.end_ns > span.start_ns ? static_cast<double>(span.end_ns - span.start_ns) / 1e9 : 0;
  }
};

// For keys that only some views have: those views hand out a context of their own.
template <typename Own>
const Own& own_context(const CellContext& context) {
  return static_cast<const Own&>(context);
}

struct KeySpec {
  std::string_view name;
  Unit unit = Unit::Number;
  std::uint64_t (*of)(const Event& event) = nullptr;
  // Null when a live block does not remember it: such a key suits only views without frees.
  std::uint64_t (*of_block)(const LiveBlock& block) = nullptr;
  Cell (*cell)(std::uint64_t word, const CellContext& context) = nullptr;
  // For words whose meaning is learnt later: the word to show the row under; null: the word itself.
  std::uint64_t (*resolve_late)(std::uint64_t word, const CellContext& context) = nullptr;
};

// "64-127" for 7: the values of this number of bits.
std::string power_range(std::uint64_t bits);

// The key caller of views whose caller only names of functions show. Names are asked for at the
// end, stack by stack: until then the word is the stack. KeySet::resolve_with or resolve_late make
// the word a place of it.
extern const KeySpec caller_by_name_key;

// The first of these frames, innermost first, that is not to be passed over; 0 without one.
std::uint64_t first_caller(std::span<const LocationId> frames,
                           const std::function<bool(LocationId)>& is_passed_over);

// A key that several views have; null when there is none of that name.
const KeySpec* find_shared_key(std::string_view name);

// Usage errors for --by.
Error unknown_key(std::string_view name, std::span<const std::string_view> known);
Error too_many_keys();

// "GFP_KERNEL|__GFP_ZERO", or the number where the context knows no names.
Cell gfp_cell(std::uint64_t word, const CellContext& context);

// "by stack, comm".
std::string by_title(std::span<const Column> columns);

class KeySet {
 public:
  // The keys that the user asked for, or the first of `names`. `own` describes those that only this
  // view has. Error: Usage, a key that is not among `names`, or too many.
  static Result<KeySet> choose(const ViewOptions& options,
                               std::span<const std::string_view> names,
                               std::span<const KeySpec> own = {});

  std::size_t size() const { return specs_.size(); }

  std::optional<std::size_t> index_of(std::string_view name) const;

  KeyWords of(const Event& event) const {
    KeyWords keys;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      keys.words[i] = specs_[i].of(event);
    }
    return keys;
  }

  KeyWords of(const LiveBlock& block) const {
    KeyWords keys;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      keys.words[i] = specs_[i].of_block(block);
    }
    return keys;
  }

  // In place of KeySpec::resolve_late, where more is to be known than its context. No effect unless
  // it is one of the keys.
  using Resolve = std::function<std::uint64_t(std::uint64_t word, const CellContext& context)>;

  void resolve_with(std::string_view name, Resolve resolve);

  bool needs_resolving() const;
  KeyWords resolve_late(KeyWords keys, const CellContext& context) const;

  std::vector<Column> columns() const;
  std::vector<Cell> cells(const KeyWords& keys, const CellContext& context) const;

 private:
  std::vector<KeySpec> specs_;
  std::vector<Resolve> resolves_;  // of each key; empty for most
};

// Of the key stack, --depth; empty: stacks stay whole.
KeySet::Resolve stack_cutter(const ViewOptions& options);

// What an event's format calls the numbers or the flags of a field, from the first event that lists
// them: GFP bits move between kernels (__GFP_ZERO is 0x8000 in 4.18 and 0x100 in 5.10), and so do
// the values of enums, so there is no table of our own.
class FieldNames {
 public:
  // Of events whose name begins with `group`, and in them of a field with one of these names.
  FieldNames(std::string_view group, std::initializer_list<std::string_view> fields)
      : group_(group), fields_(fields) {}

  void learn(const EventType& type);

  std::span<const FlagName> names() const { return names_; }

 private:
  std::string_view group_;
  std::vector<std::string_view> fields_;
  std::vector<FlagName> names_;
  const EventType* last_ = nullptr;
};

inline FieldNames gfp_flag_names() {
  return {"", {"gfp_flags", "gfp_mask"}};
}

}  // namespace memtrace
