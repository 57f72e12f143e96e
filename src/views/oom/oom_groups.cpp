#include "views/oom/oom_groups.h"

#include <algorithm>
#include <array>

#include "state/process/container_name.h"
#include "views/kit/cells.h"
#include "views/kit/keys.h"

namespace memtrace {
namespace {

constexpr std::string_view kEach = "kill";  // no two kills are alike

// `column`: as the other tables of the report call it.
struct OomKey {
  std::string_view name;
  std::string_view column;
  Unit unit;
  Cell (*of)(const OomKill& kill);
};

Cell how(const OomKill& kill) {
  return when(kill.has_victim(), how_it_ended(kill));
}

Cell container(const OomKill& kill) {
  return kill.cgroup.empty() ? Cell() : unless_empty(container_name(kill.cgroup));
}

Cell unit(const OomKill& kill) {
  return unless_empty(unit_name(kill.cgroup));
}

Cell uid(const OomKill& kill) {
  return when(kill.owner_known, std::uint64_t{kill.memory.uid});
}

template <auto Member>
Cell owner(const OomKill& kill) {
  return unless_empty(kill.owner.*Member);
}

Cell parent(const OomKill& kill) {
  return unless_zero(kill.owner.parent_pid);
}

Cell trigger_pid(const OomKill& kill) {
  return std::uint64_t{kill.trigger_pid};
}

Cell stack(const OomKill& kill) {
  return unless_invalid(kill.stack);
}

template <auto Member>
Cell name(const OomKill& kill) {
  return unless_empty(kill.*Member);
}

constexpr auto kKeys =
    std::to_array<OomKey>({{"cgroup", "cgroup", Unit::Text, name<&OomKill::cgroup>},
                           {"container", "container", Unit::Text, container},
                           {"unit", "unit", Unit::Text, unit},
                           {"user", "user", Unit::Text, owner<&OomOwner::user>},
                           {"uid", "uid", Unit::Number, uid},
                           {"exe", "exe", Unit::Text, owner<&OomOwner::exe>},
                           {"command", "command", Unit::Text, owner<&OomOwner::command>},
                           {"ppid", "ppid", Unit::Number, parent},
                           {"for", "for", Unit::Text, name<&OomKill::domain>},
                           {"victim", "victim", Unit::Text, name<&OomKill::victim>},
                           {"comm", "trigger", Unit::Text, name<&OomKill::trigger>},
                           {"how", "how", Unit::Text, how},
                           {kEach, "trigger_pid", Unit::Number, trigger_pid},
                           {"stack", "stack", Unit::Stack, stack}});

static_assert(std::ranges::equal(kKeys, kOomKeys, {}, &OomKey::name));

const OomKey& key_named(std::string_view name) {
  return *std::ranges::find(kKeys, name, &OomKey::name);
}

void raise(Cell& most, std::uint64_t bytes) {
  const auto* known = std::get_if<std::uint64_t>(&most);
  most = known == nullptr ? bytes : std::max(*known, bytes);
}

void add(OomGroup& group, const OomKill& kill) {
  ++group.kills;
  group.last = &kill;
  if (kill.memory_known) {
    raise(group.anon_bytes, kill.memory.anon_bytes);
    raise(group.file_bytes, kill.memory.file_bytes);
    raise(group.shmem_bytes, kill.memory.shmem_bytes);
  }
}

std::vector<Column> columns_of(std::span<const std::string> keys) {
  std::vector<Column> columns = {{"at_ns", Unit::Moment}};
  for (const std::string& key : keys) {
    columns.push_back({std::string(key_named(key).column), key_named(key).unit});
  }
  const auto figures = std::to_array<Column>({{"kills", Unit::Count},
                                              {"anon", Unit::Bytes},
                                              {"file", Unit::Bytes},
                                              {"shmem", Unit::Bytes},
                                              {"cgroup_limit", Unit::Bytes},
                                              {"victim_pid", Unit::Number}});
  columns.insert(columns.end(), figures.begin(), figures.end());
  return columns;
}

}  // namespace

std::vector<OomGroup> group_kills(std::span<const OomKill> kills,
                                  std::span<const std::string> keys) {
  const bool is_each = std::ranges::find(keys, kEach) != keys.end();
  std::vector<OomGroup> groups;
  for (const OomKill& kill : kills) {
    std::vector<Cell> cells;
    for (const std::string& key : keys) {
      cells.push_back(key_named(key).of(kill));
    }
    auto group = is_each ? groups.end() : std::ranges::find(groups, cells, &OomGroup::keys);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {.keys = std::move(cells)});
    }
    add(*group, kill);
  }
  std::ranges::stable_sort(groups, [](const OomGroup& one, const OomGroup& other) {
    return one.kills != other.kills ? one.kills > other.kills
                                    : one.last->time_ns > other.last->time_ns;
  });
  return groups;
}

Table group_table(std::span<const OomGroup> groups,
                  std::span<const std::string> keys,
                  std::uint64_t start_ns) {
  Table table{.title = "kills, those alike in one row",
              .columns = columns_of(keys),
              .key_count = 1 + keys.size()};
  table.fixed = true;
  for (const OomGroup& group : groups) {
    const OomKill& last = *group.last;
    std::vector<Cell> row = {since(last.time_ns, start_ns)};
    row.insert(row.end(), group.keys.begin(), group.keys.end());
    row.insert(row.end(),
               {group.kills,
                group.anon_bytes,
                group.file_bytes,
                group.shmem_bytes,
                last.seen ? fact(last.seen->facts, "cgroup_limit") : Cell(),
                unless_zero(last.victim_pid)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace memtrace
