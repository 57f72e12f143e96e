#include "tracepoints/decode/alternatives.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "tracepoints/decode/software_events.h"
#include "tracepoints/decode/system_calls.h"

namespace memtrace {
namespace {

using Exists = std::function<bool(std::string_view)>;

struct Choice {
  std::string event;
  std::string stands_for;
};

// clone, fork and vfork were no SYSCALL_DEFINE before 3.8 and had no events of their own, though
// all others did.
bool may_lack_events(SystemCall call) {
  return call == SystemCall::Clone || call == SystemCall::Fork || call == SystemCall::Vfork;
}

// A call that alone has no events where others have them does not exist in this kernel.
std::string raw_event_for(std::string_view name, const Exists& exists) {
  const auto call = call_of_event(name);
  if (!call || !CallNumbers().number(*call) ||
      (exists("syscalls:sys_enter_*") && !may_lack_events(*call))) {
    return "";
  }
  const auto& events = entry_event(*call) == name ? kRawEntries : kRawExits;
  const auto* const found = std::ranges::find_if(events, exists);
  return found == events.end() ? "" : std::string(*found);
}

// The first alternative that exists; "" when the need may be missing; nothing when it is not met.
std::optional<Choice> choose(std::string_view need, const Exists& exists) {
  const auto alternatives = split(need, '|');
  for (const std::string_view alternative : alternatives) {
    const std::string_view name = trim(alternative);
    if (const auto software = find_software_event(name)) {
      return Choice{std::string(software->name), std::string(name)};
    }
    if (!name.empty() && exists(name)) {
      return Choice{std::string(name), std::string(name)};
    }
  }
  for (const std::string_view alternative : alternatives) {
    const std::string_view name = trim(alternative);
    if (const std::string raw = raw_event_for(name, exists); !raw.empty()) {
      return Choice{raw, std::string(name)};
    }
  }
  return trim(alternatives.back()).empty() ? std::optional(Choice()) : std::nullopt;
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
    const auto choice = choose(need, exists);
    if (!choice) {
      unmet.push_back(in_words(need));
    } else if (!choice->event.empty() && std::ranges::find(chosen, choice->event) == chosen.end()) {
      chosen.push_back(choice->event);
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
    const Choice choice = choose(need, exists).value_or(Choice());
    states.push_back({.need = need,
                      .wanted = std::string(trim(alternatives.front())),
                      .chosen = choice.event,
                      .stands_for = choice.stands_for,
                      .may_be_missing = trim(alternatives.back()).empty()});
  }
  return states;
}

}  // namespace memtrace
