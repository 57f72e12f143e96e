// Known leaks that a report shall not show again, in the format of LeakSanitizer's suppression
// files (clang's documentation, LeakSanitizer, "Suppressions"): a line "leak:PATTERN" for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

class Suppressions {
 public:
  // `name` is for messages. Error: a line that is neither empty, a comment (#) nor leak:PATTERN.
  static Result<Suppressions> parse(std::string_view text, const std::string& name);

  bool empty() const { return rules_.empty(); }

  // Takes rows out of the tables by stack: those where a rule's pattern is found in the name, the
  // file or the module of one of the frames. Totals lose what the first table loses; another table
  // says what each rule took. Tables that are no list of stacks stay.
  void apply(Report& report, Namer& namer) const;

 private:
  struct Rule {
    std::string pattern;
    bool from_start = false;
    bool to_end = false;
    std::vector<std::string> pieces{};  // what stands between the asterisks

    bool is_found_in(std::string_view name) const;
  };

  static Rule make_rule(std::string_view pattern);

  struct TakenRow {
    std::vector<Cell> row;
    std::size_t rule = 0;
  };

  // SIZE_MAX: none.
  std::size_t matching_rule(const std::vector<Cell>& row, Namer& namer) const;
  std::size_t rule_for(const Frames& stack) const;
  std::vector<TakenRow> take_rows(Table& table, Namer& namer) const;

  std::vector<Rule> rules_;
};

}  // namespace memtrace
