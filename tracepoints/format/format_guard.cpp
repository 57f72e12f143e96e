#include "tracepoints/format/format_guard.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tracepoints/format/identifier_chars.h"

namespace memtrace {
namespace {

constexpr std::string_view kPrintFmt = "\nprint fmt:";
constexpr std::size_t kMaxDepth = 64;  // the kernel's own formats nest 16 deep

// Without what stands in quotes; nothing when a quote is not closed.
std::optional<std::string> without_quoted(std::string_view text) {
  std::string rest;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (quoted && text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      rest += text[at];
    }
  }
  return quoted ? std::nullopt : std::optional<std::string>(std::move(rest));
}

// Brackets close in the order in which they opened.
bool is_balanced(std::string_view text) {
  constexpr std::string_view kBrackets = "(){}[]";  // each closing one behind its opening one
  std::string open;
  for (const char c : without_quoted(text).value_or("(")) {
    const std::size_t kind = kBrackets.find(c);
    if (kind == std::string_view::npos) {
      continue;
    }
    if (kind % 2 == 0) {
      open += c;
    } else if (open.ends_with(kBrackets[kind - 1])) {
      open.pop_back();
    } else {
      return false;
    }
    if (open.size() > kMaxDepth) {
      return false;
    }
  }
  return open.empty();
}

bool is_number_after(std::string_view part, std::string_view label) {
  part = trim(part);
  return part.starts_with(label) && parse_number(part.substr(label.size())).has_value();
}

// "field:char comm[16]" -> "comm"; "" when there is no name.
std::string_view declared_name(std::string_view declaration) {
  std::string_view name = declaration.substr(0, declaration.rfind('['));
  if (declaration.ends_with(']') && name.find(' ') != std::string_view::npos) {
    declaration = name;
  }
  const auto start = std::find_if_not(declaration.rbegin(), declaration.rend(), is_word);
  return declaration.substr(static_cast<std::size_t>(declaration.rend() - start));
}

// The field's name; "" for a line that is not a whole field.
std::string_view field_in(std::string_view line) {
  const auto parts = split(trim(line), ';');
  const bool whole = parts.size() >= 4 && parts[0].starts_with("field:") &&
                     is_number_after(parts[1], "offset:") && is_number_after(parts[2], "size:") &&
                     is_balanced(parts[0]);
  return whole ? declared_name(trim(parts[0].substr(6))) : std::string_view();
}

bool mentions_only(std::string_view print, const std::vector<std::string_view>& fields) {
  constexpr std::string_view kRecord = "REC->";
  for (std::size_t at = print.find(kRecord); at != std::string_view::npos;
       at = print.find(kRecord, at)) {
    at += kRecord.size();
    const std::string_view name = leading_word(print.substr(at));
    if (std::find(fields.begin(), fields.end(), name) == fields.end()) {
      return false;
    }
  }
  return true;
}

// libtraceevent evaluates a division of constants, and a name is 0 to it.
bool divides_by_zero(std::string_view print) {
  const std::string unquoted = without_quoted(print).value_or("");
  const std::string_view code = unquoted;
  for (std::size_t at = code.find_first_of("/%"); at != std::string_view::npos;
       at = code.find_first_of("/%", at + 1)) {
    const std::string_view divisor = leading_word(trim(code.substr(at + 1)));
    const bool is_number = !divisor.empty() && is_digit(divisor[0]) &&
                           divisor.find_first_of("123456789") != std::string_view::npos;
    if (!is_number && divisor != "sizeof") {
      return true;
    }
  }
  return false;
}

// From the name to the ')' that closes the call; all of the text when nothing does.
std::string_view leading_call(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[at] == '(') {
      ++depth;
    } else if (!quoted && text[at] == ')' && --depth == 0) {
      return text.substr(0, at + 1);
    }
  }
  return text;
}

// ", call, call" of what gives values names and can be given away.
std::string naming_calls(std::string_view print, const std::vector<std::string_view>& fields) {
  std::string calls;
  while (!print.empty()) {
    const std::size_t start =
        std::min(print.find("__print_flags("), print.find("__print_symbolic("));
    if (start == std::string_view::npos) {
      break;
    }
    print.remove_prefix(start);
    const std::string_view call = leading_call(print);
    if (is_balanced(call) && mentions_only(call, fields) && !divides_by_zero(call)) {
      calls += ", " + std::string(call);
    }
    print.remove_prefix(call.size());
  }
  return calls;
}

}  // namespace

std::optional<std::string> guarded_format(std::string_view text) {
  const std::size_t print_start = text.find(kPrintFmt);
  const std::string_view head = text.substr(0, print_start);
  std::vector<std::string_view> fields;
  for (const std::string_view line : split(head, '\n')) {
    if (!line.starts_with('\t')) {
      continue;
    }
    fields.push_back(field_in(line));
    if (fields.back().empty()) {
      return std::nullopt;
    }
  }
  if (fields.empty()) {
    return std::nullopt;
  }
  const std::string_view print =
      print_start == std::string_view::npos ? "" : text.substr(print_start);
  return std::string(head) + "\nprint fmt: \"\"" + naming_calls(print, fields) + "\n";
}

}  // namespace memtrace
