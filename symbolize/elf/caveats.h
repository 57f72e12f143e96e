// What could not be read while naming, as sentences for the reader of a report.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace memtrace {

class SymbolCaveats {
 public:
  // Once, however often it is said.
  void add(const std::string& sentence);

  // All files that cannot be read share one sentence: on another machine than the recording's
  // there may be hundreds.
  void add_unreadable(const std::string& path);

  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  void rebuild();

  std::vector<std::string> single_;
  std::set<std::string> unreadable_;
  std::vector<std::string> sentences_;
};

}  // namespace memtrace
