// Compiled while memtrace records, by the loss test: the compiler is the workload, its heap and
// page traffic come from these headers and templates.
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

template <typename Key, typename Value>
std::vector<std::pair<Key, Value>> by_value(const std::map<Key, Value>& counts) {
  std::vector<std::pair<Key, Value>> pairs(counts.begin(), counts.end());
  std::sort(pairs.begin(), pairs.end(), [](const auto& left, const auto& right) {
    return left.second > right.second;
  });
  return pairs;
}

std::map<std::string, int> count_words(const std::string& text) {
  static const std::regex word("[[:alpha:]]+");
  std::map<std::string, int> counts;
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
    ++counts[at->str()];
  }
  return counts;
}

}  // namespace

int main() {
  for (const auto& [word, count] : by_value(count_words("one two two three three three"))) {
    std::cout << count << ' ' << word << '\n';
  }
  return 0;
}
