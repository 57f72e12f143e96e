#include "plan/probes/uprobe_event.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "symbolize/code/function_table.h"
#include "tracepoints/probe/heap_functions.h"

namespace memtrace {
namespace {

constexpr std::string_view kUprobeStart = "uprobe:";
constexpr std::string_view kReturn = "%return";
constexpr auto kTypes = std::to_array<std::string_view>(
    {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "x8", "x16", "x32", "x64"});

bool is_type(std::string_view text) {
  return std::find(kTypes.begin(), kTypes.end(), text) != kTypes.end();
}

Error uprobe_usage(std::string_view event, std::string_view what) {
  return {"event '" + std::string(event) + "': " + std::string(what),
          0,
          "probes are written uprobe:PATH:FUNCTION or "
          "uprobe:PATH:FUNCTION(name=arg1,other=arg2:u32)",
          ErrorKind::Usage};
}

// "arg2:u32" -> "%si:u32"; nothing for an argument that is in no register.
std::optional<std::string> fetch_argument(std::string_view value, std::size_t place) {
  const std::size_t colon = value.find(':');
  const std::string_view what = value.substr(0, colon);
  const std::string type(colon == std::string_view::npos ? ":u64" : value.substr(colon));
  if (is_type(value)) {
    const auto name = argument_register(static_cast<std::int8_t>(place));
    return name.empty() ? std::nullopt
                        : std::optional(std::string(name) + ":" + std::string(value));
  }
  if (what.starts_with("arg")) {
    const auto number = parse_number(what.substr(3));
    const bool fits = number && *number >= 1 && *number <= 6;
    const auto name = fits ? argument_register(static_cast<std::int8_t>(*number - 1)) : "";
    return name.empty() ? std::nullopt : std::optional(std::string(name) + type);
  }
  return what == "retval" ? std::string(result_register()) + type : std::string(value);
}

}  // namespace

Result<std::string> parse_probe_arguments(std::string_view event, std::string_view list) {
  std::string arguments;
  std::size_t place = 0;
  for (const std::string_view argument : split(list, ',')) {
    const std::size_t equals = argument.find('=');
    const auto fetch = equals == std::string_view::npos || equals == 0
                           ? std::nullopt
                           : fetch_argument(trim(argument.substr(equals + 1)), place);
    if (!fetch) {
      return uprobe_usage(event, "'" + std::string(argument) + "' is not NAME=VALUE");
    }
    arguments += (arguments.empty() ? "" : " ") + std::string(trim(argument.substr(0, equals))) +
                 "=" + *fetch;
    ++place;
  }
  return arguments;
}

bool is_uprobe_event(std::string_view event) {
  return event.starts_with(kUprobeStart);
}

Result<UprobeEvent> parse_uprobe_event(std::string_view event) {
  std::string_view text = event.substr(kUprobeStart.size());
  UprobeEvent parsed;
  if (const std::size_t open = text.find('('); open != std::string_view::npos) {
    if (!text.ends_with(')')) {
      return uprobe_usage(event, "no ')' at the end");
    }
    auto arguments = parse_probe_arguments(event, text.substr(open + 1, text.size() - open - 2));
    if (!arguments.ok()) {
      return arguments.take_error();
    }
    parsed.arguments = arguments.take();
    text = text.substr(0, open);
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    return uprobe_usage(event, "a file and a function are needed");
  }
  parsed.path = text.substr(0, colon);
  parsed.function = text.substr(colon + 1);
  if (parsed.function.ends_with(kReturn)) {
    parsed.is_return = true;
    parsed.function.resize(parsed.function.size() - kReturn.size());
  }
  return parsed;
}

Result<std::vector<ProbeDefinition>> find_uprobe_places(const UprobeEvent& event,
                                                        const std::vector<TargetObject>& objects) {
  auto object = find_object(objects, event.path);
  if (!object.ok()) {
    return object.take_error();
  }
  const auto table = FunctionTable::load(object.value().path);
  if (!table.ok()) {
    return table.error();
  }
  const auto functions = table.value().find(event.function);
  if (!functions.ok()) {
    return functions.error();
  }
  std::vector<ProbeDefinition> probes;
  for (const Function& function : functions.value()) {
    const auto matching =
        std::find_if(function.names.begin(), function.names.end(), [&](const std::string& name) {
          return glob_match(event.function, name);
        });
    const std::string name = matching == function.names.end() ? function.names.front() : *matching;
    probes.push_back({.event = name + (event.is_return ? "_ret" : ""),
                      .path = object.value().path,
                      .file_offset = function.file_offset,
                      .is_return = event.is_return,
                      .args = event.arguments});
  }
  return probes;
}

}  // namespace memtrace
