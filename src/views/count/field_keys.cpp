#include "views/count/field_keys.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "views/kit/identity_keys.h"

namespace memtrace {
namespace {

constexpr std::string_view kEventKey = "event";
constexpr std::size_t kMaxNames = 40;

bool is_number(const Field& field) {
  return field.kind == FieldKind::Integer;
}

Cell number_cell(const Field& field, std::uint64_t value) {
  if (!field.symbols.empty()) {
    const auto symbol = std::ranges::find(field.symbols, value, &FlagName::mask);
    return symbol != field.symbols.end() ? Cell(symbol->name) : Cell(std::to_string(value));
  }
  if (!field.flags.empty()) {
    return print_flags(value, field.flags);
  }
  const auto as_signed = static_cast<std::int64_t>(value);
  return field.is_signed && as_signed < 0 ? Cell(as_signed) : Cell(value);
}

// "bytes_req" of "log2(bytes_req)".
std::optional<std::string> log2_field(std::string_view name) {
  constexpr std::string_view kLog2 = "log2(";
  const bool is_log2 =
      name.starts_with(kLog2) && name.ends_with(')') && name.size() > kLog2.size() + 1;
  return is_log2
             ? std::optional(std::string(name.substr(kLog2.size(), name.size() - kLog2.size() - 1)))
             : std::nullopt;
}

std::vector<std::string> field_names(const std::deque<EventType>& types) {
  std::set<std::string> names;
  for (const EventType& type : types) {
    for (const Field& field : type.format.fields) {
      names.insert(field.name);
    }
  }
  std::erase_if(names, [](const std::string& name) { return name.starts_with("common_"); });
  return {names.begin(), names.end()};
}

// Software events have no fields; a tracepoint, which is written group:event, has some always.
bool has_lost_format(const EventType& type) {
  return type.format.fields.empty() && type.name.find(':') != std::string::npos;
}

std::string list_fields(std::vector<std::string> names, const std::vector<std::string>& near) {
  std::stable_partition(names.begin(), names.end(), [&near](const std::string& name) {
    return std::ranges::find(near, name) != near.end();
  });
  const std::size_t left_out = names.size() - std::min(names.size(), kMaxNames);
  names.resize(names.size() - left_out);
  return names.empty() ? "these events have no fields"
                       : "fields are " + join(names, ", ") +
                             (left_out == 0 ? "" : " and " + std::to_string(left_out) + " others");
}

Error unknown_field(const AskedField& asked,
                    const std::deque<EventType>& types,
                    std::span<const std::string_view> keys) {
  const std::vector<std::string> names = field_names(types);
  std::vector<std::string> candidates = names;
  candidates.insert(candidates.end(), keys.begin(), keys.end());
  const std::vector<std::string> near = nearest(asked.name, candidates);
  return {.message = asked.option + " " + asked.name + ": no event has such a field",
          .hint = (near.empty() ? "" : "did you mean " + join(near, " or ") + "? ") +
                  list_fields(names, near),
          .kind = ErrorKind::Usage};
}

}  // namespace

Result<> check_fields(std::span<const AskedField> asked,
                      const std::deque<EventType>& types,
                      std::span<const std::string_view> keys) {
  if (types.empty() || std::ranges::any_of(types, has_lost_format)) {
    return kDone;
  }
  for (const AskedField& each : asked) {
    const auto has = [&each](const EventType& type) {
      return type.format.find(each.name) != nullptr;
    };
    if (std::ranges::none_of(types, has)) {
      return unknown_field(each, types, keys);
    }
  }
  return kDone;
}

const Field* EventField::in(const EventType& type) {
  if (type.index >= by_event_.size()) {
    by_event_.resize(type.index + 1);
  }
  std::optional<const Field*>& known = by_event_[type.index];
  if (!known) {
    known = type.format.find(name_);
    first_ = first_ == nullptr ? *known : first_;
  }
  return *known;
}

Unit unit_of(const EventField& field) {
  const Field* first = field.first();
  if (first == nullptr) {
    return Unit::Number;
  }
  if (!is_number(*first) || !first->flags.empty() || !first->symbols.empty()) {
    return Unit::Text;
  }
  if (first->is_pointer) {
    return Unit::Address;
  }
  return field.name().find("bytes") != std::string::npos ? Unit::Bytes : Unit::Number;
}

std::uint64_t FieldCells::word_of(const Field& field, std::span<const std::byte> raw) {
  if (field.kind == FieldKind::Array) {
    return 0;
  }
  if (!is_number(field)) {
    return word_of_text(field.text(raw));
  }
  const std::uint64_t value = field.number(raw);
  std::uint64_t& word = number_words_[&field][value];
  if (word == 0) {
    word = intern(number_cell(field, value));
  }
  return word;
}

std::uint64_t FieldCells::word_of_text(std::string_view text) {
  const StringId id = texts_.intern(text);
  if (id.value >= text_words_.size()) {
    text_words_.resize(id.value + 1);
  }
  std::uint64_t& word = text_words_[id.value];
  if (word == 0) {
    word = intern(std::string(text));
  }
  return word;
}

std::uint64_t FieldCells::intern(const Cell& cell) {
  const auto [known, is_new] = words_.try_emplace(cell, cells_.size());
  if (is_new) {
    cells_.push_back(cell);
  }
  return known->second;
}

Result<FieldKeys> FieldKeys::choose(const ViewOptions& options,
                                    std::span<const std::string_view> names) {
  std::vector<std::string> wanted = options.by;
  if (wanted.empty()) {
    wanted.emplace_back(names.front());
  }
  FieldKeys keys;
  for (const std::string& name : wanted) {
    if (name.empty() || name == ".") {
      return unknown_key(name, names);
    }
    if (std::ranges::find(keys.keys_, name, &Key::name) != keys.keys_.end()) {
      continue;  // said twice
    }
    Key& key = keys.keys_.emplace_back(Key{.name = name});
    if (const auto inner = log2_field(name)) {
      key.field.emplace(*inner);
      key.is_log2 = true;
    } else if (!takes_key(names, name)) {
      key.field.emplace(name.starts_with('.') ? name.substr(1) : name);
    } else if (name != kEventKey) {
      key.shared = find_shared_key(name);
    }
  }
  if (keys.size() > kMaxKeys) {
    return too_many_keys();
  }
  keys.cut_stack_ = stack_cutter(options);
  return keys;
}

KeyWords FieldKeys::of(const Event& event) {
  KeyWords words;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    words.words[i] = word_of(keys_[i], event);
  }
  return words;
}

std::uint64_t FieldKeys::word_of(Key& key, const Event& event) {
  if (key.shared != nullptr) {
    return key.shared->of(event);
  }
  if (key.field) {
    const Field* field = key.field->in(*event.type);
    if (field != nullptr && key.is_log2) {
      return log2_word(*field, event);
    }
    return field == nullptr ? 0 : cells_.word_of(*field, event.raw);
  }
  if (event.type->index >= event_words_.size()) {
    event_words_.resize(event.type->index + 1);
  }
  std::uint64_t& word = event_words_[event.type->index];
  if (word == 0) {
    word = cells_.word_of_text(event.type->name);
  }
  return word;
}

std::uint64_t FieldKeys::log2_word(const Field& field, const Event& event) {
  if (!is_number(field)) {
    return 0;
  }
  const std::uint64_t value = field.number(event.raw);
  const bool is_negative = field.is_signed && static_cast<std::int64_t>(value) < 0;
  return cells_.word_of_text(
      is_negative ? "negative" : power_range(static_cast<std::uint64_t>(std::bit_width(value))));
}

std::vector<Column> FieldKeys::columns() const {
  std::vector<Column> columns;
  for (const Key& key : keys_) {
    const Unit unit = key.shared != nullptr ? key.shared->unit
                      : key.is_log2         ? Unit::Text
                      : key.field           ? unit_of(*key.field)
                                            : Unit::Text;
    columns.push_back({key.name, unit});
  }
  return columns;
}

bool FieldKeys::needs_resolving() const {
  return cut_stack_ != nullptr || std::ranges::any_of(keys_, [](const Key& key) {
           return key.shared != nullptr && key.shared->resolve_late != nullptr;
         });
}

KeyWords FieldKeys::resolve_late(KeyWords keys, const CellContext& context) const {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const KeySpec* shared = keys_[i].shared;
    if (shared != nullptr && shared->unit == Unit::Stack && cut_stack_ != nullptr) {
      keys.words[i] = cut_stack_(keys.words[i], context);
    } else if (shared != nullptr && shared->resolve_late != nullptr) {
      keys.words[i] = shared->resolve_late(keys.words[i], context);
    }
  }
  return keys;
}

std::vector<Cell> FieldKeys::cells(const KeyWords& keys, const CellContext& context) const {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const std::uint64_t word = keys.words[i];
    cells.push_back(keys_[i].shared != nullptr ? keys_[i].shared->cell(word, context)
                                               : cells_.cell(word));
  }
  return cells;
}

std::vector<std::string> FieldKeys::fields() const {
  std::vector<std::string> names;
  for (const Key& key : keys_) {
    if (key.field) {
      names.push_back(key.field->name());
    }
  }
  return names;
}

std::vector<std::string> FieldKeys::missing() const {
  std::vector<std::string> names;
  for (const Key& key : keys_) {
    if (key.field && key.field->first() == nullptr) {
      names.push_back(key.field->name());
    }
  }
  return names;
}

}  // namespace memtrace
