#include "symbolize/elf/caveats.h"

#include <algorithm>

#include "base/text.h"

namespace memtrace {

void SymbolCaveats::add(const std::string& sentence) {
  if (std::find(single_.begin(), single_.end(), sentence) == single_.end()) {
    single_.push_back(sentence);
    rebuild();
  }
}

void SymbolCaveats::add_unreadable(const std::string& path) {
  if (unreadable_.insert(path).second) {
    rebuild();
  }
}

void SymbolCaveats::rebuild() {
  constexpr std::size_t kMaxNamedFiles = 4;
  sentences_ = single_;
  if (unreadable_.empty()) {
    return;
  }
  std::vector<std::string> named;
  for (const std::string& path : unreadable_) {
    if (named.size() < kMaxNamedFiles) {
      named.push_back(path);
    }
  }
  std::string sentence =
      "functions of files that cannot be read here are not named: " + join(named, ", ");
  if (unreadable_.size() > named.size()) {
    sentence += " and " + std::to_string(unreadable_.size() - named.size()) + " more";
  }
  sentences_.push_back(sentence);
}

}  // namespace memtrace
