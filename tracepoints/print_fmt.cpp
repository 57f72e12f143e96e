#include "tracepoints/print_fmt.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/text.h"
#include "tracepoints/tep_bridge.h"

namespace memtrace {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool starts_identifier(char c) {
  return is_word(c) && std::isdigit(static_cast<unsigned char>(c)) == 0;
}

bool is_masking(std::string_view operation) {
  return operation == "&" || operation == "|";
}

// The field's name below casts. With `masks`, also below "& mask": that takes bits away but leaves
// the others where they are, so names of flags stay true (names of whole values do not). The mask
// may show as '|' on top: libtraceevent 1.7.1 reads "x & (1 | 2)" as "(x & 1) | 2".
const char* field_name(const tep_print_arg* argument, bool masks) {
  while (argument != nullptr) {
    if (argument->type == TEP_PRINT_FIELD) {
      return argument->field.name;
    }
    if (argument->type == TEP_PRINT_TYPE) {
      argument = argument->typecast.item;
    } else if (masks && argument->type == TEP_PRINT_OP && is_masking(argument->op.op)) {
      argument = argument->op.left;
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

// "0x400u", "-1", "1024"; nothing for an enum's name.
std::optional<std::uint64_t> parse_value(const char* text) {
  char* end = nullptr;
  errno = 0;
  const bool negative = *text == '-';
  const auto value = negative ? static_cast<std::uint64_t>(std::strtoll(text, &end, 0))
                              : std::uint64_t{std::strtoull(text, &end, 0)};
  const std::string_view rest = end;
  if (end == text || errno != 0 || rest.find_first_not_of("uUlL") != std::string_view::npos) {
    return std::nullopt;
  }
  return value;
}

// What stands before the comma in {expression, "name"}; moves `from` past it.
std::string_view find_expression(std::string_view text, std::string_view name, std::size_t& from) {
  const std::string quoted = '"' + std::string(name) + '"';
  const std::size_t found = text.find(quoted, from);
  if (found == std::string_view::npos) {
    return {};
  }
  from = found + quoted.size();
  const std::size_t brace = text.rfind('{', found);
  const std::size_t comma = text.rfind(',', found);
  if (brace == std::string_view::npos || comma == std::string_view::npos || comma < brace) {
    return {};
  }
  return text.substr(brace + 1, comma - brace - 1);
}

std::vector<FlagName> value_names(const tep_print_flag_sym* list, std::string_view text) {
  std::vector<FlagName> names;
  std::size_t from = 0;
  for (; list != nullptr; list = list->next) {
    if (list->value == nullptr || list->str == nullptr) {
      continue;
    }
    const auto value = parse_value(list->value);
    if (value && !has_unresolved_name(find_expression(text, list->str, from))) {
      names.push_back({*value, list->str});
    }
  }
  return names;
}

Field* find_mutable(EventFormat& format, const char* name) {
  for (Field& field : format.fields) {
    if (name != nullptr && field.name == name) {
      return &field;
    }
  }
  return nullptr;
}

void add_names_of(const tep_print_arg& argument, std::string_view text, EventFormat& format) {
  if (argument.type == TEP_PRINT_FLAGS) {
    Field* field = find_mutable(format, field_name(argument.flags.field, true));
    if (field != nullptr && field->flags.empty()) {
      field->flags = value_names(argument.flags.flags, text);
    }
  } else if (argument.type == TEP_PRINT_SYMBOL) {
    Field* field = find_mutable(format, field_name(argument.symbol.field, false));
    if (field != nullptr && field->symbols.empty()) {
      field->symbols = value_names(argument.symbol.symbols, text);
    }
  }
}

}  // namespace

bool has_unresolved_name(std::string_view expression) {
  std::size_t at = 0;
  while (at < expression.size()) {
    if (!starts_identifier(expression[at])) {
      // A number is skipped whole: the u of "0x400u" is no identifier.
      do {
        ++at;
      } while (is_word(expression[at - 1]) && at < expression.size() && is_word(expression[at]));
      continue;
    }
    const std::size_t close = expression.find(')', at);
    const std::string_view inside = expression.substr(at, close - at);
    const bool only_words = inside.find_first_of("(|&+-<>~,") == std::string_view::npos;
    const std::string_view after =
        close == std::string_view::npos ? "" : trim(expression.substr(close + 1));
    const bool is_cast =
        only_words && !after.empty() && (is_word(after[0]) || after[0] == '(' || after[0] == '~');
    if (!is_cast) {
      return true;
    }
    at = close;
  }
  return false;
}

void add_value_names(const tep_print_arg* arguments, std::string_view text, EventFormat& format) {
  for (; arguments != nullptr; arguments = arguments->next) {
    add_names_of(*arguments, text, format);
    if (arguments->type == TEP_PRINT_TYPE) {
      add_value_names(arguments->typecast.item, text, format);
    } else if (arguments->type == TEP_PRINT_OP) {
      add_value_names(arguments->op.left, text, format);
      add_value_names(arguments->op.right, text, format);
    } else if (arguments->type == TEP_PRINT_FUNC) {
      add_value_names(arguments->func.args, text, format);
    }
  }
}

}  // namespace memtrace
