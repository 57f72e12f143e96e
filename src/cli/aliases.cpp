#include "cli/aliases.h"

#include <algorithm>
#include <array>

#include "pipeline/event_selection.h"

namespace memtrace {
namespace {

constexpr auto kAliases = std::to_array<Alias>({
    {"anonpgin", "swapin", "by", "comm,pid"},
    {"as_fault", "faults", "by", "comm"},
    {"brkstack", "brk", "by", "stack,comm"},
    {"compactsnoop", "compaction", "trace", ""},
    {"drsnoop", "reclaim", "trace", ""},
    {"fmapfault", "ffaults", "by", "comm,file"},
    {"glibc-malloc", "arenas", "trace", ""},
    {"heaptrack", "heap", "", ""},
    {"hugepage_clear_delays", "hfaults", "by", "comm,pid"},
    {"hugepage_collapse", "compaction", "trace", ""},
    {"hugepage_split", "compaction", "", ""},
    {"kmalloc-top", "kmalloc", "sort", "count"},
    {"kmem", "slab", "by", "stack,comm", "show", "allocs,avg_bytes,bytes"},
    {"kpages", "pages", "by", "stack,comm", "sort", "allocs"},
    {"maj_fault", "faults", "by", "comm", "sort", "major"},
    {.name = "memleak", .view = "leaks", .option = "", .value = "", .interval = "5"},
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
    {"numamove", "numa", "", ""},
    {"oomkill", "oom", "", ""},
    {"overcommit", "enomem", "trace", ""},
    {"pfaults", "faults", "trace", ""},
    {"shmsnoop", "shm", "trace", ""},
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
  const auto found = std::ranges::find(kAliases, name, &Alias::name);
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
    if (!option.empty() && !parsed.value().has(option)) {
      all.push_back("--" + std::string(option));
      if (!value.empty()) {
        all.emplace_back(value);
      }
    }
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
  const auto& given = parsed.value();
  const bool has_target =
      given.has("all-cpus") || given.has("pid") || given.has("tid") || !given.command().empty();
  if (!has_target) {
    all.insert(all.begin(), "-a");
  }
  if (!alias.interval.empty() && given.positional().empty()) {
    all.insert(all.begin(), std::string(alias.interval));
  }
  return all;
}

std::string spelled_out(const Alias& alias) {
  std::string text(alias.view);
  for (const auto& [option, value] :
       {std::pair(alias.option, alias.value), {alias.second_option, alias.second_value}}) {
    if (!option.empty()) {
      text += " --" + std::string(option) + (value.empty() ? "" : " ") + std::string(value);
    }
  }
  return text;
}

Error unknown_view_or_alias(const std::string& name) {
  std::vector<std::string> aliases;
  for (const Alias& alias : kAliases) {
    aliases.emplace_back(alias.name);
  }
  return unknown_view(name, aliases);
}

}  // namespace memtrace
