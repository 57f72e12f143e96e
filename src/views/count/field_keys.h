// Keys by field name, for events of any kind: what an event's own format says is in its bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_map.h"
#include "base/interner.h"
#include "base/result.h"
#include "views/kit/keys.h"

namespace memtrace {

// A field by its name, looked up once for each kind of event.
class EventField {
 public:
  explicit EventField(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  // nullptr when events of this kind have no such field.
  const Field* in(const EventType& type);

  // The field of the first kind of event that had it; nullptr so far.
  const Field* first() const { return first_; }

 private:
  std::string name_;
  std::vector<std::optional<const Field*>> by_event_;  // by EventType::index
  const Field* first_ = nullptr;
};

// Bytes for a field whose name says that it counts bytes.
Unit unit_of(const EventField& field);

// Distinct values of fields as small numbers: fields of one name may be a number in one event and a
// text in another, so a row is known by the cell that it shows and not by the field's bits.
class FieldCells {
 public:
  std::uint64_t word_of(const Field& field, std::span<const std::byte> raw);
  std::uint64_t word_of_text(std::string_view text);

  // No value at all for word 0: the event has no such field.
  const Cell& cell(std::uint64_t word) const { return cells_[word]; }

 private:
  std::uint64_t intern(const Cell& cell);

  std::vector<Cell> cells_ = {Cell()};
  std::map<Cell, std::uint64_t> words_;
  StringTable texts_;
  std::vector<std::uint64_t> text_words_;  // by StringId
  // What was printed once need not be printed for each event again.
  HashMap<const Field*, HashMap<std::uint64_t, std::uint64_t>> number_words_;
};

// For GroupBy: event, stack, comm, pid, tid, cpu and any field. A field that is named like one of
// those is meant with a dot before it: ".pid" is the field of oom:mark_victim, "pid" who caused it.
// "log2(bytes_req)" has a row for each power of two.
class FieldKeys {
 public:
  // Error: Usage, too many keys or an empty one. Unlike fixed keys, a field is not known to be
  // missing until the events have been seen.
  static Result<FieldKeys> choose(const ViewOptions& options,
                                  std::span<const std::string_view> names);

  std::size_t size() const { return keys_.size(); }

  KeyWords of(const Event& event);

  bool needs_resolving() const;
  KeyWords resolve_late(KeyWords keys, const CellContext& context) const;

  std::vector<Column> columns() const;
  std::vector<Cell> cells(const KeyWords& keys, const CellContext& context) const;

  // All fields that were asked for.
  std::vector<std::string> fields() const;

  // Fields that were asked for and that no event so far had.
  std::vector<std::string> missing() const;

 private:
  struct Key {
    std::string name;
    const KeySpec* shared = nullptr;
    std::optional<EventField> field;  // neither: the event's name
    bool is_log2 = false;             // of the field
  };

  std::uint64_t word_of(Key& key, const Event& event);
  std::uint64_t log2_word(const Field& field, const Event& event);

  std::vector<Key> keys_;
  KeySet::Resolve cut_stack_;  // empty: stacks stay whole
  FieldCells cells_;
  std::vector<std::uint64_t> event_words_;  // by EventType::index
};

// What a user typed as the name of a field.
struct AskedField {
  std::string option;  // "--by"
  std::string name;
};

// Error: Usage, the first that none of these events has, with those that there are. Where an
// event's format is lost nothing can be said.
Result<> check_fields(std::span<const AskedField> asked,
                      const std::deque<EventType>& types,
                      std::span<const std::string_view> keys);

}  // namespace memtrace
