#include "cli/aliases.h"

#include <algorithm>
#include <array>

#include "pipeline/event_selection.h"

namespace memtrace {
namespace {

constexpr auto kAliases = std::to_array<Alias>({
    {"anonpgin", "swapin", "by", "comm,pid"},
    {"brkstack", "brk", "by", "stack,comm"},
    {"fmapfault", "ffaults", "by", "comm,file"},
    {"kmalloc-top", "kmalloc", "sort", "count"},
    {"kmem", "kmalloc", "by", "stack,comm"},
    {"kpages", "pages", "by", "stack,comm"},
    {"mmanonpage", "anon", "by", "comm,pid"},
    {"mmapsnoop", "mmap", "trace", ""},
    {"mmfilepage", "filepages", "by", "comm,pid"},
    {"overcommit", "enomem", "trace", ""},
    {"pfaults", "faults", "trace", ""},
    {"shmsnoop", "shm", "trace", ""},
    {"slabratetop", "slab", "sort", "bytes"},
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
  if (!parsed.ok() || parsed.value().has(alias.option)) {
    return arguments;
  }
  std::vector<std::string> all = {"--" + std::string(alias.option)};
  if (!alias.value.empty()) {
    all.emplace_back(alias.value);
  }
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

Error unknown_view_or_alias(const std::string& name) {
  std::vector<std::string> aliases;
  for (const Alias& alias : kAliases) {
    aliases.emplace_back(alias.name);
  }
  return unknown_view(name, aliases);
}

}  // namespace memtrace
