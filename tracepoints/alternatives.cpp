#include "tracepoints/alternatives.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "tracepoints/software_events.h"

namespace memtrace {
namespace {

using Exists = std::function<bool(std::string_view)>;

// The first alternative that exists; "" when the need may be missing; nothing when it is not met.
std::optional<std::string> choose(std::string_view need, const Exists& exists) {
  for (const std::string_view alternative : split(need, '|')) {
    const std::string_view name = trim(alternative);
    if (name.empty()) {
      return "";
    }
    if (const auto software = find_software_event(name)) {
      return std::string(software->name);
    }
    if (exists(name)) {
      return std::string(name);
    }
  }
  return std::nullopt;
}

std::string in_words(std::string_view need) {
  std::string words;
  for (const std::string_view alternative : split(need, '|')) {
    words += (words.empty() ? "" : " or ") + std::string(trim(alternative));
  }
  return words;
}

}  // namespace

Result<std::vector<std::string>> choose_events(std::span<const std::string_view> needs,
                                               const Exists& exists) {
  std::vector<std::string> chosen;
  std::vector<std::string> unmet;
  for (const std::string_view need : needs) {
    const auto name = choose(need, exists);
    if (!name) {
      unmet.push_back(in_words(need));
    } else if (!name->empty() && std::find(chosen.begin(), chosen.end(), *name) == chosen.end()) {
      chosen.push_back(*name);
    }
  }
  if (!unmet.empty()) {
    return Error{"this kernel has no event " + join(unmet, ", nor "),
                 0,
                 "it was built without these tracepoints; those it has are listed in "
                 "/sys/kernel/tracing/events (before Linux 4.1: /sys/kernel/debug/tracing/events)"};
  }
  return chosen;
}

bool may_be_missing(std::span<const std::string_view> needs, std::string_view alternative) {
  return std::ranges::any_of(needs, [alternative](std::string_view need) {
    const auto names = split(need, '|');
    return trim(names.back()).empty() && std::ranges::find(names, alternative) != names.end();
  });
}

std::vector<NeedState> examine_needs(std::span<const std::string_view> needs,
                                     const Exists& exists) {
  std::vector<NeedState> states;
  for (const std::string_view need : needs) {
    const auto alternatives = split(need, '|');
    const auto chosen = choose(need, exists);
    states.push_back({.need = need,
                      .wanted = std::string(trim(alternatives.front())),
                      .chosen = chosen.value_or(""),
                      .may_be_missing = trim(alternatives.back()).empty()});
  }
  return states;
}

}  // namespace memtrace
