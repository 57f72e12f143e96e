// Values to small ids and back; ids start at 1 and are given in the order of first appearance.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"

namespace memtrace {

// Strings to StringId. Views returned by at() stay valid as long as the table.
class StringTable {
 public:
  StringTable() = default;
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;
  StringTable(const StringTable&) = delete;  // the copy's views would be of the original's strings
  StringTable& operator=(const StringTable&) = delete;
  ~StringTable() = default;

  StringId intern(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) {
      return found->second;
    }
    const std::string& kept = strings_.emplace_back(text);
    const StringId id{static_cast<std::uint32_t>(strings_.size())};
    ids_.emplace(kept, id);
    return id;
  }

  // "" for the id that means none.
  std::string_view at(StringId id) const {
    return id.valid() ? std::string_view{strings_[id.value - 1]} : std::string_view();
  }

 private:
  std::deque<std::string> strings_;  // a deque: its elements never move
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace memtrace
