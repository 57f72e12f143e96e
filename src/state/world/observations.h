// What /proc said when an event happened: read while recording, kept in the file, looked up by the
// event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memtrace {

// Named figures and texts. What could not be read is not there.
struct Facts {
  std::map<std::string, std::uint64_t, std::less<>> numbers = {};
  std::map<std::string, std::string, std::less<>> texts = {};

  // Null when it is not there.
  const std::uint64_t* number(std::string_view name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? nullptr : &found->second;
  }

  const std::string* text(std::string_view name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? nullptr : &found->second;
  }

  bool empty() const { return numbers.empty() && texts.empty(); }

  friend bool operator==(const Facts&, const Facts&) = default;
};

struct Observation {
  std::string reader = {};    // which reader made it
  std::uint64_t time_ns = 0;  // the event's
  std::uint32_t tid = 0;
  std::uint64_t delay_ns = 0;  // how long after the event /proc was read
  Facts facts = {};
  std::vector<Facts> rows = {};  // a table, if the reader makes one: the largest processes

  friend bool operator==(const Observation&, const Observation&) = default;
};

class Observations {
 public:
  void add(Observation observation) {
    Key key{observation.time_ns, observation.tid, observation.reader};
    all_.insert_or_assign(std::move(key), std::move(observation));
  }

  // Instead of all that its reader has made before.
  void replace(Observation observation) {
    std::erase_if(all_, [&observation](const auto& entry) {
      return entry.second.reader == observation.reader;
    });
    add(std::move(observation));
  }

  // Null when nothing was read then.
  const Observation* find(std::string_view reader, std::uint64_t time_ns, std::uint32_t tid) const {
    const auto found = all_.find(Key{time_ns, tid, std::string(reader)});
    return found == all_.end() ? nullptr : &found->second;
  }

  // The latest that this reader has made; null without one.
  const Observation* last(std::string_view reader) const {
    const auto latest = std::find_if(all_.rbegin(), all_.rend(), [reader](const auto& entry) {
      return entry.second.reader == reader;
    });
    return latest == all_.rend() ? nullptr : &latest->second;
  }

  // In order of time.
  template <typename Visitor>
  void for_each(Visitor visit) const {
    for (const auto& [key, observation] : all_) {
      visit(observation);
    }
  }

  bool empty() const { return all_.empty(); }

  // Of what follows nothing is known yet.
  void clear() {
    all_.clear();
    skipped_ = 0;
  }

  // Events for which nothing was read, as there were too many at once.
  std::uint64_t skipped() const { return skipped_; }

  void add_skipped(std::uint64_t count) { skipped_ += count; }

 private:
  struct Key {
    std::uint64_t time_ns = 0;
    std::uint32_t tid = 0;
    std::string reader;

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  std::map<Key, Observation> all_;
  std::uint64_t skipped_ = 0;
};

}  // namespace memtrace
