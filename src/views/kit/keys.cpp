#include "views/kit/keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "base/text.h"
#include "state/world/short_stacks.h"
#include "views/kit/cells.h"
#include "views/kit/identity_keys.h"

namespace memtrace {
namespace {

std::uint64_t to_word(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

Cell number_cell(std::uint64_t word, const CellContext& /*context*/) {
  return word;
}

Cell signed_cell(std::uint64_t word, const CellContext& /*context*/) {
  return static_cast<std::int64_t>(word);
}

// An event without a stack is a stack too, the empty one.
Cell stack_cell(std::uint64_t word, const CellContext& /*context*/) {
  return StackId{static_cast<std::uint32_t>(word)};
}

Cell location_cell(std::uint64_t word, const CellContext& /*context*/) {
  return unless_invalid(LocationId{static_cast<std::uint32_t>(word)});
}

Cell string_cell(std::uint64_t word, const CellContext& context) {
  return cell_of(context.world.strings().at(StringId{static_cast<std::uint32_t>(word)}));
}

std::uint64_t size_of(const Event& event) {
  if (const auto* slab = std::get_if<SlabAlloc>(&event.payload)) {
    return slab->bytes_req;
  }
  if (const auto* call = std::get_if<HeapCall>(&event.payload)) {
    return call->bytes;
  }
  const auto* alloc = std::get_if<HeapAlloc>(&event.payload);
  return alloc == nullptr ? 0 : alloc->bytes;
}

// Powers of two: range n holds sizes from 2^(n-1) to 2^n - 1, range 0 holds 0.
std::uint64_t range_of(const Event& event) {
  return static_cast<std::uint64_t>(std::bit_width(size_of(event)));
}

std::uint64_t range_of_block(const LiveBlock& block) {
  return static_cast<std::uint64_t>(std::bit_width(block.bytes_req));
}

Cell range_cell(std::uint64_t word, const CellContext& /*context*/) {
  return power_range(word);
}

std::uint64_t gfp_of(const Event& event) {
  if (const auto* alloc = std::get_if<SlabAlloc>(&event.payload)) {
    return alloc->gfp;
  }
  const auto* alloc = std::get_if<PageAlloc>(&event.payload);
  return alloc == nullptr ? 0 : alloc->gfp;
}

std::uint64_t node_of(const Event& event) {
  const auto* alloc = std::get_if<SlabAlloc>(&event.payload);
  return to_word(alloc == nullptr ? -1 : alloc->node);
}

std::uint64_t order_of(const Event& event) {
  const auto* alloc = std::get_if<PageAlloc>(&event.payload);
  return alloc == nullptr ? 0 : alloc->order;
}

// The member of an event or a block that a key is.
template <auto Member>
std::uint64_t member(const Event& event) {
  return event.*Member;
}

template <auto Member>
std::uint64_t block_member(const LiveBlock& block) {
  return block.*Member;
}

template <auto Member>
std::uint64_t id_member(const Event& event) {
  return (event.*Member).value;
}

std::uint64_t stack_of(const Event& event) {
  return event.stack.id().value;
}

template <auto Member>
std::uint64_t block_id_member(const LiveBlock& block) {
  return (block.*Member).value;
}

// clang-format off
constexpr auto kSharedKeys = std::to_array<KeySpec>({
    {"stack", Unit::Stack, stack_of, block_id_member<&LiveBlock::stack>, stack_cell},
    {"caller", Unit::Text, id_member<&Event::call_site>, block_id_member<&LiveBlock::call_site>, location_cell},
    {"comm", Unit::Text, id_member<&Event::comm>, block_id_member<&LiveBlock::comm>, string_cell},
    {"pid", Unit::Number, member<&Event::pid>, block_member<&LiveBlock::pid>, number_cell},
    {"tid", Unit::Number, member<&Event::tid>, block_member<&LiveBlock::tid>, number_cell},
    {"cpu", Unit::Number, member<&Event::cpu>, block_member<&LiveBlock::cpu>, number_cell},
    {"size", Unit::Number, size_of, block_member<&LiveBlock::bytes_req>, number_cell},
    {"range", Unit::Text, range_of, range_of_block, range_cell},
    {"function", Unit::Text, id_member<&Event::function>, block_id_member<&LiveBlock::function>, string_cell},
    {"gfp", Unit::Text, gfp_of, block_member<&LiveBlock::gfp>, gfp_cell},
    {"node", Unit::Number, node_of, nullptr, signed_cell},
    {"order", Unit::Number, order_of, block_member<&LiveBlock::order>, number_cell},
});

// clang-format on

const KeySpec* find_key(std::span<const KeySpec> specs, std::string_view name) {
  const auto found = std::ranges::find(specs, name, &KeySpec::name);
  return found == specs.end() ? nullptr : &*found;
}

}  // namespace

Cell gfp_cell(std::uint64_t word, const CellContext& context) {
  return context.gfp_flags.empty() ? fmt::format("0x{:x}", word)
                                   : print_flags(word, context.gfp_flags);
}

std::string power_range(std::uint64_t bits) {
  if (bits == 0) {
    return "0";
  }
  const std::uint64_t low = std::uint64_t{1} << (bits - 1);
  return std::to_string(low) + "-" + std::to_string(low + (low - 1));
}

constinit const KeySpec caller_by_name_key{
    .name = "caller",
    .unit = Unit::Text,
    .of = [](const Event& event) { return std::uint64_t{event.stack.id().value}; },
    .of_block = [](const LiveBlock& block) { return std::uint64_t{block.stack.value}; },
    .cell =
        [](std::uint64_t word, const CellContext&) {
          return unless_invalid(LocationId{static_cast<std::uint32_t>(word)});
        },
};

std::uint64_t first_caller(std::span<const LocationId> frames,
                           const std::function<bool(LocationId)>& is_passed_over) {
  for (const LocationId frame : frames) {
    if (!is_passed_over || !is_passed_over(frame)) {
      return frame.value;
    }
  }
  return 0;
}

const KeySpec* find_shared_key(std::string_view name) {
  const KeySpec* spec = find_key(kSharedKeys, name);
  return spec != nullptr ? spec : find_key(identity_keys(), name);
}

Error unknown_key(std::string_view name, std::span<const std::string_view> known) {
  std::vector<std::string> names(known.begin(), known.end());
  for (const KeySpec& key : identity_keys()) {
    if (takes_key(known, key.name)) {
      names.emplace_back(key.name);
    }
  }
  const std::vector<std::string> near = nearest(name, names);
  return {.message = "--by " + std::string(name) + ": no such key",
          .hint = near.empty() ? "keys are " + join(names, ", ")
                               : "did you mean " + join(near, " or ") + "?",
          .kind = ErrorKind::Usage};
}

Error too_many_keys() {
  return {.message = "--by: too many keys",
          .hint = "give at most " + std::to_string(kMaxKeys),
          .kind = ErrorKind::Usage};
}

std::string by_title(std::span<const Column> columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    names.push_back(column.name);
  }
  return "by " + join(names, ", ");
}

Result<KeySet> KeySet::choose(const ViewOptions& options,
                              std::span<const std::string_view> names,
                              std::span<const KeySpec> own) {
  std::vector<std::string_view> wanted(options.by.begin(), options.by.end());
  if (wanted.empty()) {
    wanted.push_back(names.front());
  }
  KeySet set;
  for (const std::string_view name : wanted) {
    if (!takes_key(names, name)) {
      return unknown_key(name, names);
    }
    if (set.index_of(name)) {
      continue;  // said twice
    }
    const KeySpec* spec = find_key(own, name);
    set.specs_.push_back(spec != nullptr ? *spec : *find_shared_key(name));
  }
  if (set.size() > kMaxKeys) {
    return too_many_keys();
  }
  set.resolves_.resize(set.size());
  set.resolve_with("stack", stack_cutter(options));
  return set;
}

void KeySet::resolve_with(std::string_view name, Resolve resolve) {
  if (const auto index = index_of(name)) {
    resolves_[*index] = std::move(resolve);
  }
}

std::optional<std::size_t> KeySet::index_of(std::string_view name) const {
  const auto found = std::ranges::find(specs_, name, &KeySpec::name);
  if (found == specs_.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - specs_.begin());
}

bool KeySet::needs_resolving() const {
  return std::ranges::any_of(specs_,
                             [](const KeySpec& spec) { return spec.resolve_late != nullptr; }) ||
         std::ranges::any_of(resolves_, [](const Resolve& resolve) { return resolve != nullptr; });
}

KeyWords KeySet::resolve_late(KeyWords keys, const CellContext& context) const {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (resolves_[i] != nullptr) {
      keys.words[i] = resolves_[i](keys.words[i], context);
    } else if (specs_[i].resolve_late != nullptr) {
      keys.words[i] = specs_[i].resolve_late(keys.words[i], context);
    }
  }
  return keys;
}

std::vector<Column> KeySet::columns() const {
  std::vector<Column> columns;
  for (const KeySpec& spec : specs_) {
    columns.push_back({std::string(spec.name), spec.unit});
  }
  return columns;
}

std::vector<Cell> KeySet::cells(const KeyWords& keys, const CellContext& context) const {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    cells.push_back(specs_[i].cell(keys.words[i], context));
  }
  return cells;
}

KeySet::Resolve stack_cutter(const ViewOptions& options) {
  if (options.stack_depth == 0) {
    return {};
  }
  const auto cut = std::make_shared<ShortStacks>(options.stack_depth);
  return [cut](std::uint64_t word, const CellContext& context) {
    const StackId stack{static_cast<std::uint32_t>(word)};
    return std::uint64_t{cut->same_as(context.world.stacks(), stack).value};
  };
}

void FieldNames::learn(const EventType& type) {
  if (!names_.empty() || &type == last_ || !type.name.starts_with(group_)) {
    return;
  }
  last_ = &type;
  for (const std::string_view name : fields_) {
    const Field* field = type.format.find(name);
    if (field != nullptr && names_.empty()) {
      names_ = field->flags.empty() ? field->symbols : field->flags;
    }
  }
}

}  // namespace memtrace
