// Command-line options as data: one table per command makes the parser, the --help text and the
// man page test. option_table.cpp is the only file that knows Boost.ProgramOptions.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

struct Option {
  std::string_view name;      // "output"
  char letter = 0;            // 'o', or 0
  std::string_view argument;  // "FILE"; "" for a flag; "[=LEVEL]" may be left out
  std::string_view help;
  std::string_view same_as{};  // another option, of which this is a name that people know
  std::string_view value{};    // a flag's, for that option

  constexpr bool argument_may_be_left_out() const { return argument.starts_with('['); }
};

class ParsedOptions {
 public:
  bool has(std::string_view name) const { return values_.contains(std::string(name)); }

  // The last value given, or `fallback`. Flags hold "1", as do arguments that
  // were left out.
  std::string text(std::string_view name, std::string_view fallback = "") const;

  // How many times it was given.
  std::size_t count(std::string_view name) const;

  // All values, each split at commas that are not within parentheses.
  std::vector<std::string> list(std::string_view name) const;

  // Error: Usage, not a number of that kind.
  Result<std::uint64_t> number(std::string_view name, std::uint64_t fallback) const;
  Result<std::uint64_t> bytes(std::string_view name, std::uint64_t fallback) const;
  Result<std::uint64_t> duration_ns(std::string_view name, std::uint64_t fallback) const;

  const std::vector<std::string>& positional() const { return positional_; }

  // What came behind "--".
  const std::vector<std::string>& command() const { return command_; }

 private:
  friend Result<ParsedOptions> parse_options(std::span<const Option> options,
                                             const std::vector<std::string>& arguments);

  std::map<std::string, std::vector<std::string>> values_;
  std::vector<std::string> positional_;
  std::vector<std::string> command_;
};

// Error: Usage, with the nearest options.
Result<ParsedOptions> parse_options(std::span<const Option> options,
                                    const std::vector<std::string>& arguments);

// "  -o, --output FILE      where to write", a line or more for each option.
std::string help_text(std::span<const Option> options);

// Several tables as one.
std::vector<Option> joined(std::initializer_list<std::span<const Option>> tables);

}  // namespace memtrace
