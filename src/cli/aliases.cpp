#include "cli/aliases.h"

#include <algorithm>
#include <array>

#include "cli/options/shared_options.h"
#include "plan/events/event_selection.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

constexpr auto kAliases = std::to_array<Alias>({
    {"anonpgin", "swapin", "by", "comm,pid"},
    {"as_fault", "faults", "by", "comm"},
    {"brkstack", "brk", "by", "stack,comm"},
    {.name = "compactsnoop", .view = "compaction", .option = "trace", .value = "", .foreign = "e"},
    {.name = "drsnoop", .view = "reclaim", .option = "trace", .value = "", .foreign = "en"},
    {"fmapfault", "ffaults", "by", "comm,file"},
    {"glibc-malloc", "arenas", "trace", ""},
    {.name = "heaptrack", .view = "heap", .option = "", .value = "", .foreign = "ad"},
    {"hugepage_clear_delays", "hfaults", "by", "comm,pid"},
    {"hugepage_collapse", "compaction", "trace", ""},
    {"hugepage_split", "compaction", "", ""},
    {.name = "kmalloc-top",
     .view = "kmalloc",
     .option = "sort",
     .value = "count",
     .takes_command = true},
    {"kmem", "slab", "by", "stack,comm", "show", "allocs,avg_bytes,bytes", "5"},
    {"kpages", "pages", "by", "stack,comm", "sort", "allocs", "5"},
    {"maj_fault", "faults", "by", "comm", "sort", "major"},
    {.name = "memleak",
     .view = "leaks",
     .option = "older",
     .value = "500ms",
     .interval = "5",
     .kernel_view = "kleaks",
     .all = "--show-allocs",
     .traced_view = "malloc",
     .traced_kernel_view = "kmalloc",
     .takes_command = true},
    {"mmanonpage", "anon", "by", "comm,pid"},
    {"mmapsnoop", "mmap", "trace", ""},
    {"mmfilepage", "filepages", "by", "comm,pid"},
    {"mmreclaim",
     "vmscan",
     "by",
     "comm,pid",
     "show",
     "direct,cgroup,softlimit,reclaims,inactive,activated,deactivated,written"},
    {"mmwriteback",
     "writeback",
     "by",
     "comm,pid",
     "show",
     "balances,throttles,flushes,flushed,dirtied,file_pageouts,swap_pageouts"},
    {"numa_faults", "numa", "", ""},
    {.name = "numamove", .view = "numa", .option = "", .value = "", .live_flag = "line"},
    {"oomkill", "oom", "trace", "", "by", "stack"},
    {"overcommit", "enomem", "trace", ""},
    {"pfaults", "faults", "trace", ""},
    {.name = "shmsnoop", .view = "shm", .option = "trace", .value = "", .foreign = "n"},
    {.name = "slabratetop",
     .view = "slab",
     .option = "sort",
     .value = "bytes",
     .second_option = "show",
     .second_value = "allocs,bytes",
     .interval = "1"},
    {.name = "vm.tracepoints",
     .view = "slab",
     .option = "by",
     .value = "comm,size",
     .second_option = "show",
     .second_value = "allocs,bytes_req,bytes",
     .interval = "10"},
});

}  // namespace

std::span<const Alias> all_aliases() {
  return kAliases;
}

const Alias* find_alias(std::string_view name) {
  const auto* found = std::ranges::find(kAliases, name, &Alias::name);
  return found == kAliases.end() ? nullptr : &*found;
}

const NamedView* find_view_or_alias(std::string_view name) {
  const Alias* alias = find_alias(name);
  return find_view(alias == nullptr ? name : alias->view);
}

std::vector<std::string> with_alias_option(const Alias& alias,
                                           std::span<const Option> known,
                                           const std::vector<std::string>& arguments) {
  const auto parsed = parse_options(known, arguments);
  if (!parsed.ok()) {
    return arguments;
  }
  std::vector<std::string> all;
  for (const auto& [option, value] :
       {std::pair(alias.option, alias.value), {alias.second_option, alias.second_value}}) {
    if (option.empty() || parsed.value().has(option)) {
      continue;
    }
    all.push_back("--" + std::string(option));
    if (!value.empty()) {
      all.emplace_back(value);
    }
  }
  const bool is_by_stack = !alias.kernel_frames.empty() && !parsed.value().has("by");
  if (is_by_stack && !parsed.value().has("depth")) {
    all.insert(all.end(), {"--depth", std::string(alias.kernel_frames)});
  }
  if (is_by_stack && !parsed.value().has("user")) {
    all.emplace_back("--kernel");
  }
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

std::vector<std::string> with_live_alias_options(const Alias& alias,
                                                 std::span<const Option> known,
                                                 const std::vector<std::string>& arguments) {
  const auto parsed = parse_options(known, arguments);
  std::vector<std::string> all = with_alias_option(alias, known, arguments);
  if (!parsed.ok()) {
    return all;
  }
  if (!alias.interval.empty() && parsed.value().positional().empty()) {
    all.insert(all.begin(), std::string(alias.interval));
  }
  const bool is_another_form =
      std::ranges::any_of(std::array{"line", "clear", "since-interval"},
                          [&parsed](const char* form) { return parsed.value().has(form); });
  if (!alias.live_flag.empty() && !is_another_form) {
    all.insert(all.begin(), "--" + std::string(alias.live_flag));
  }
  return all;
}

namespace {

// "-c 'ls -l' -d 1" becomes "-d 1 -- sh -c 'ls -l'".
void take_command(std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  const auto letter = std::find(words.begin(), end, "-c");
  if (letter == end || letter + 1 == end || end != words.end()) {
    return;
  }
  const std::string command = *(letter + 1);
  words.erase(letter, letter + 2);
  words.insert(words.end(), {"--", "sh", "-c", command});
}

// -t is --trace here, and -a has a meaning of its own.
bool names_target(const std::string& word) {
  constexpr auto kTargets = std::to_array<std::string_view>({"-p",
                                                             "--pid",
                                                             "--tid",
                                                             "--all-cpus",
                                                             "--cgroup",
                                                             "--uid",
                                                             "--yes-all-processes",
                                                             "--all-processes"});
  return std::ranges::any_of(kTargets,
                             [&word](std::string_view target) { return word.starts_with(target); });
}

}  // namespace

std::optional<TracedAlias> traced_alias(const Alias& alias,
                                        const std::vector<std::string>& arguments) {
  if (alias.traced_view.empty()) {
    return std::nullopt;
  }
  TracedAlias traced{.view = alias.traced_kernel_view, .arguments = arguments};
  auto& words = traced.arguments;
  const auto is_flag = [](const std::string& word) { return word == "-t" || word == "--trace"; };
  const auto end = std::ranges::find(words, "--");
  const auto flag = std::find_if(words.begin(), end, is_flag);
  if (flag == end) {
    return std::nullopt;
  }
  if (end != words.end() || std::any_of(words.begin(), end, names_target)) {
    traced.view = alias.traced_view;
  }
  *flag = "--trace";
  return traced;
}

Result<std::vector<std::string>> with_alias_letters(const Alias& alias,
                                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> own = arguments;
  if (alias.takes_command) {
    take_command(own);
  }
  for (auto at = own.begin(); at != own.end() && *at != "--"; ++at) {
    if (at->size() < 2 || at->front() != '-') {
      continue;
    }
    const char letter = (*at)[1];
    if (alias.foreign.find(letter) != std::string_view::npos) {
      return Error{
          "unrecognised option '-" + std::string(1, letter) + "'", 0, "", ErrorKind::Usage};
    }
    if (*at == "-a" && !alias.all.empty()) {
      *at = alias.all;
    }
  }
  return own;
}

std::string_view live_view_of(const Alias& alias,
                              std::span<const Option> known,
                              const std::vector<std::string>& arguments) {
  const auto parsed = parse_options(known, arguments);
  const bool is_of_process =
      !parsed.ok() || has_target(parsed.value()) || parsed.value().has("help");
  return alias.kernel_view.empty() || is_of_process ? alias.view : alias.kernel_view;
}

std::string spelled_out(const Alias& alias) {
  std::string text(alias.view);
  for (const auto& [option, value] :
       {std::pair(alias.option, alias.value), {alias.second_option, alias.second_value}}) {
    if (!option.empty()) {
      text += " --" + std::string(option) + (value.empty() ? "" : " ") + std::string(value);
    }
  }
  if (!alias.kernel_frames.empty()) {
    text += " --kernel --depth " + std::string(alias.kernel_frames);
  }
  return text;
}

Error unknown_view_or_alias(const std::string& name) {
  std::vector<std::string> aliases;
  aliases.reserve(kAliases.size());
  for (const Alias& alias : kAliases) {
    aliases.emplace_back(alias.name);
  }
  return unknown_view(name, aliases);
}

}  // namespace memtrace
