#include "tracepoints/format/print_fmt.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/text.h"
#include "tracepoints/format/identifier_chars.h"
#include "tracepoints/format/tep_bridge.h"

namespace memtrace {
namespace {

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

// For an expression that begins with an identifier: the length up to the ')' that makes it a cast,
// "gfp_t)" of "( gfp_t)0x400u"; 0 when it is none. A cast holds words only and has an operand
// behind it.
std::size_t length_of_cast(std::string_view expression) {
  const std::size_t close = expression.find_first_of(")(|&+-<>~,");
  if (close == std::string_view::npos || expression[close] != ')') {
    return 0;
  }
  const std::string_view operand = trim(expression.substr(close + 1));
  const bool is_cast =
      !operand.empty() && (is_word(operand[0]) || operand[0] == '(' || operand[0] == '~');
  return is_cast ? close + 1 : 0;
}

}  // namespace

bool has_unresolved_name(std::string_view expression) {
  while (!expression.empty()) {
    const std::string_view word = leading_word(expression);
    if (word.empty() || is_digit(word[0])) {  // whole: the u of "0x400u" is no identifier
      expression.remove_prefix(std::max<std::size_t>(word.size(), 1));
      continue;
    }
    const std::size_t cast_length = length_of_cast(expression);
    if (cast_length == 0) {
      return true;
    }
    expression.remove_prefix(cast_length);
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
