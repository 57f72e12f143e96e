// memtrace list: what can be shown, recorded, and grouped by.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/aliases.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "tracepoints/decode/software_events.h"
#include "tracepoints/format/tracefs.h"
#include "views/all/all_views.h"
#include "views/kit/identity_keys.h"

namespace memtrace::list_command {
namespace {

Result<std::string> list_views(std::string_view /*wanted*/) {
  std::string text;
  for (const NamedView& view : all_views()) {
    text += fmt::format("{:<12} {}\n", view.name, view.spec.summary);
  }
  return text;
}

// Of this kernel, as -e takes them.
Result<std::string> list_events(std::string_view wanted) {
  std::string text;
  for (const SoftwareEvent& event : software_events()) {
    text += wanted.empty() ? std::string(event.name) + "\n" : "";
  }
  const auto files = TracepointFiles::open();
  if (!files.ok()) {
    return files.error();
  }
  const auto events =
      wanted.empty() ? files.value().find_events("*:*") : files.value().list_events(wanted);
  if (!events.ok()) {
    return events.error();
  }
  return text + join(events.value(), "\n") + "\n";
}

std::string keys_of(const ViewSpec& spec) {
  std::vector<std::string> keys(spec.keys.begin(), spec.keys.end());
  for (const KeySpec& key : identity_keys()) {
    const bool is_new = std::ranges::find(keys, key.name) == keys.end();  // oom has its own
    if (is_new && takes_key(spec.keys, key.name)) {
      keys.emplace_back(key.name);
    }
  }
  return join(keys, " ");
}

Result<std::string> list_keys(std::string_view wanted) {
  if (!wanted.empty()) {
    const NamedView* view = find_view_or_alias(wanted);
    return view == nullptr ? Result<std::string>(unknown_view_or_alias(std::string(wanted)))
                           : keys_of(view->spec) + "\n";
  }
  std::string text;
  for (const NamedView& view : all_views()) {
    text += fmt::format("{:<12} {}\n", view.name, keys_of(view.spec));
  }
  return text;
}

struct List {
  std::string_view name;
  Result<std::string> (*make)(std::string_view wanted);
  bool takes_word;
};

constexpr auto kLists = std::to_array<List>(
    {{"views", list_views, false}, {"events", list_events, true}, {"keys", list_keys, true}});

std::vector<Option> options() {
  return {help_option().begin(), help_option().end()};
}

Error usage() {
  return {"memtrace list views, events or keys",
          0,
          "memtrace list events 'vmscan:*'; memtrace list keys faults",
          ErrorKind::Usage};
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  const auto parsed = parse_options(options(), arguments);
  if (!parsed.ok()) {
    return parsed.error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("list", command_list.usage, command_list.summary, options())));
    return 0;
  }
  const auto& words = parsed.value().positional();
  const std::string name = words.empty() ? "views" : words[0];
  const auto* const list = std::ranges::find(kLists, name, &List::name);
  if (list == kLists.end() || words.size() > (list->takes_word ? 2U : 1U)) {
    return usage();
  }
  const auto text = list->make(words.size() > 1 ? words[1] : "");
  if (!text.ok()) {
    return text.error();
  }
  TRY(print_text(text.value()));
  return 0;
}

}  // namespace
}  // namespace memtrace::list_command

namespace memtrace {

const Command command_list{
    .name = "list",
    .usage = "[views | events [PATTERN] | keys [VIEW]]",
    .summary = "Lists the views, this kernel's events, or the keys of --by.",
    .options = list_command::options,
    .run = list_command::run,
};

}  // namespace memtrace
