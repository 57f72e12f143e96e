#include "plan/probes/custom_allocator.h"

#include "base/text.h"

namespace memtrace {
namespace {

Error allocator_usage(std::string_view text) {
  return {"'" + std::string(text) + "' is not a function of an allocator",
          0,
          "write --alloc 'FUNCTION(size=arg1)' and --free 'FUNCTION(ptr=arg1)'; put a file name "
          "and a colon before FUNCTION if several files have it",
          ErrorKind::Usage};
}

// "arg2" -> 1.
int argument_place(std::string_view value) {
  const auto number = value.starts_with("arg") ? parse_number(value.substr(3)) : std::nullopt;
  return number && *number >= 1 && *number <= 6 ? static_cast<int>(*number) - 1 : -1;
}

// Where in `role` an argument of that name belongs; align is of no account.
std::int8_t* place_of(HeapFunction& role, std::string_view name) {
  if (name == "size") {
    return &role.size;
  }
  if (name == "count") {
    return &role.count;
  }
  return name == "ptr" ? &role.ptr : nullptr;
}

bool read_arguments(std::string_view list, HeapFunction& role) {
  for (const std::string_view argument : split(list, ',')) {
    const std::size_t equals = argument.find('=');
    const std::string_view name = trim(argument.substr(0, equals));
    std::int8_t* place = place_of(role, name);
    const int number =
        equals == std::string_view::npos ? -1 : argument_place(trim(argument.substr(equals + 1)));
    if (number < 0 || (place == nullptr && name != "align")) {
      return false;
    }
    if (place != nullptr) {
      *place = static_cast<std::int8_t>(number);
    }
  }
  return true;
}

}  // namespace

Result<CustomFunction> parse_custom_function(std::string_view text, HeapOp op) {
  std::string_view function = trim(text.substr(0, text.find("->")));
  CustomFunction custom;
  custom.role.op = op;
  custom.role.returns_block = op != HeapOp::Free;
  const std::size_t open = function.find('(');
  if (open == std::string_view::npos) {
    (op == HeapOp::Free ? custom.role.ptr : custom.role.size) = 0;
  } else if (!function.ends_with(')') ||
             !read_arguments(function.substr(open + 1, function.size() - open - 2), custom.role)) {
    return allocator_usage(text);
  }
  const bool complete = op == HeapOp::Free ? custom.role.ptr >= 0 : custom.role.size >= 0;
  function = trim(function.substr(0, open));
  const std::size_t colon = function.rfind(':');
  // "Pool::take" is a name, "libpool.so:take" a file and a name.
  const bool has_path = colon != std::string_view::npos && colon > 0 && function[colon - 1] != ':';
  custom.path = has_path ? function.substr(0, colon) : "";
  custom.name = has_path ? function.substr(colon + 1) : function;
  if (custom.role.op == HeapOp::Alloc && custom.role.ptr >= 0) {
    custom.role.op = HeapOp::Realloc;
  }
  return complete && !custom.name.empty() ? Result<CustomFunction>(custom) : allocator_usage(text);
}

}  // namespace memtrace
