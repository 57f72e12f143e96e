// A regular expression that names are searched for. Even a hostile one takes time in proportion to
// the name, and bounded memory: RE2's syntax, which is Perl's without references back and without
// looking ahead.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace memtrace {

class NamePattern {
 public:
  // Error: not a regular expression, and why.
  static Result<NamePattern> parse(const std::string& expression);

  // Anywhere in the name; a name's bytes need not be UTF-8.
  bool is_found_in(std::string_view name) const;

 private:
  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace memtrace
