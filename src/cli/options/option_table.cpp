#include "cli/options/option_table.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace memtrace {
namespace {

namespace po = boost::program_options;

constexpr const char* kPositional = "positional words";
constexpr std::size_t kHelpColumn = 28;
constexpr std::size_t kHelpWidth = 100;

Error bad_value(std::string_view name, const std::string& value, const char* example) {
  return {"--" + std::string(name) + " " + value, 0, example, ErrorKind::Usage};
}

po::options_description describe_options(std::span<const Option> options) {
  po::options_description description;
  for (const Option& option : options) {
    std::string names(option.name);
    if (option.letter != 0) {
      names += std::string(",") + option.letter;
    }
    if (option.argument.empty()) {
      description.add_options()(names.c_str(), "");
      continue;
    }
    auto* value = po::value<std::vector<std::string>>()->composing();
    if (option.argument_may_be_left_out()) {
      value->implicit_value({""}, "");
    }
    description.add_options()(names.c_str(), value, "");
  }
  description.add_options()(kPositional, po::value<std::vector<std::string>>(), "");
  return description;
}

Error usage_error(const po::error& error, std::span<const Option> options) {
  std::string hint;
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    std::vector<std::string> names;
    for (const Option& option : options) {
      names.emplace_back(option.name);
    }
    std::string word = unknown->get_option_name();
    word.erase(0, word.find_first_not_of('-'));
    for (const std::string& name : nearest(word, names)) {
      hint += (hint.empty() ? "did you mean --" : " or --") + name;
    }
    hint += hint.empty() ? "" : "?";
  }
  return {error.what(), 0, hint, ErrorKind::Usage};
}

std::string help_line(const Option& option) {
  std::string line = option.letter != 0 ? std::string("  -") + option.letter + ", " : "      ";
  line += "--" + std::string(option.name);
  line += option.argument.empty() || option.argument_may_be_left_out() ? "" : " ";
  line += option.argument;
  line.resize(std::max(line.size() + 2, kHelpColumn), ' ');
  for (const std::string_view word : split(option.help, ' ')) {
    const std::size_t line_start = line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n');
    if (line.size() - line_start + word.size() > kHelpWidth) {
      line.pop_back();
      line += "\n" + std::string(kHelpColumn, ' ');
    }
    line += std::string(word) + " ";
  }
  line.back() = '\n';
  return line;
}

// Nothing for words without an option.
const Option* option_named(std::span<const Option> options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &Option::name);
  return found == options.end() ? nullptr : &*found;
}

// The option that a word names, by whatever name, and its values; "1" where it has none.
std::pair<std::string, std::vector<std::string>> meant_by(const po::basic_option<char>& word,
                                                          std::span<const Option> options) {
  const Option* option = option_named(options, word.string_key);
  if (option != nullptr && !option->value.empty()) {
    return {std::string(option->same_as), {std::string(option->value)}};
  }
  const bool is_other_name = option != nullptr && !option->same_as.empty();
  return {is_other_name ? std::string(option->same_as) : word.string_key,
          word.value.empty() ? std::vector<std::string>{"1"} : word.value};
}

}  // namespace

Result<ParsedOptions> parse_options(std::span<const Option> options,
                                    const std::vector<std::string>& arguments) {
  ParsedOptions parsed;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    parsed.command_.assign(dashes + 1, arguments.end());
  }
  po::positional_options_description positional;
  positional.add(kPositional, -1);
  const po::options_description description = describe_options(options);
  namespace style = po::command_line_style;
  try {
    const auto words = po::command_line_parser(std::vector<std::string>(arguments.begin(), dashes))
                           .options(description)
                           .positional(positional)
                           .style(style::unix_style & ~style::allow_guessing)
                           .run();
    for (const auto& word : words.options) {
      const auto [name, values] = meant_by(word, options);
      auto& target = name == kPositional ? parsed.positional_ : parsed.values_[name];
      target.insert(target.end(), values.begin(), values.end());
    }
  } catch (const po::error& error) {
    return usage_error(error, options);
  }
  return parsed;
}

std::string ParsedOptions::text(std::string_view name, std::string_view fallback) const {
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? std::string(fallback) : found->second.back();
}

std::vector<std::string> ParsedOptions::list(std::string_view name) const {
  std::vector<std::string> all;
  const auto found = values_.find(std::string(name));
  if (found == values_.end()) {
    return all;
  }
  for (const std::string& value : found->second) {
    for (const std::string_view part : split_list(value)) {
      all.emplace_back(trim(part));
    }
  }
  std::erase(all, "");
  return all;
}

std::size_t ParsedOptions::count(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? 0 : found->second.size();
}

Result<std::uint64_t> ParsedOptions::number(std::string_view name, std::uint64_t fallback) const {
  if (!has(name)) {
    return fallback;
  }
  const auto value = parse_number(text(name));
  return value ? Result<std::uint64_t>(*value)
               : bad_value(name, text(name), "takes a whole number, such as 20");
}

Result<std::uint64_t> ParsedOptions::bytes(std::string_view name, std::uint64_t fallback) const {
  if (!has(name)) {
    return fallback;
  }
  const auto value = parse_bytes(text(name));
  return value ? Result<std::uint64_t>(*value)
               : bad_value(name, text(name), "takes a size, such as 4096, 64K or 16M");
}

Result<std::uint64_t> ParsedOptions::duration_ns(std::string_view name,
                                                 std::uint64_t fallback) const {
  if (!has(name)) {
    return fallback;
  }
  const auto value = parse_duration_ns(text(name));
  return value && *value > 0 ? Result<std::uint64_t>(*value)
                             : bad_value(name, text(name), "takes seconds, or 500ms, 2m, 1h");
}

std::string help_text(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) {
    text += help_line(option);
  }
  return text;
}

std::vector<Option> joined(std::initializer_list<std::span<const Option>> tables) {
  std::vector<Option> all;
  for (const auto table : tables) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace memtrace
