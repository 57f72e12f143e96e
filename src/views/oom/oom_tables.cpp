// The tables of a report of OOM kills.
#include "views/kit/cells.h"
#include "views/kit/event_list.h"
#include "views/oom/oom_kills.h"

namespace memtrace {
namespace {

template <auto Member>
Cell memory_cell(const OomKill& kill, const CellContext& /*context*/) {
  return when(kill.memory_known, kill.memory.*Member);
}

ListColumn<OomKill> seen_column(std::string_view column, Unit unit, std::string_view name) {
  return {column, unit, [name](const OomKill& kill, const CellContext&) {
            return kill.seen ? fact(kill.seen->facts, name) : Cell();
          }};
}

}  // namespace

std::string_view how_it_ended(const OomKill& kill) {
  return kill.by_killer ? "killed" : "was exiting";
}

Table kill_lines(std::span<const OomKill> kills, const CellContext& context, bool has_stacks) {
  using Shown = const CellContext&;
  ListColumns<OomKill> columns = {
      {"trigger",
       Unit::Text,
       [](const OomKill& kill, Shown) { return unless_empty(kill.trigger); }},
      figure<&OomKill::trigger_pid>("trigger_pid", Unit::Number),
      {"victim", Unit::Text, [](const OomKill& kill, Shown) { return unless_empty(kill.victim); }},
      figure_unless_zero<&OomKill::victim_pid>("victim_pid", Unit::Number),
      {"for", Unit::Text, [](const OomKill& kill, Shown) { return unless_empty(kill.domain); }},
      {"how", Unit::Text, [](const OomKill& kill, Shown) { return cell_of(how_it_ended(kill)); }},
      {"total_vm", Unit::Bytes, memory_cell<&OomVictim::total_vm_bytes>},
      {"anon", Unit::Bytes, memory_cell<&OomVictim::anon_bytes>},
      {"file", Unit::Bytes, memory_cell<&OomVictim::file_bytes>},
      {"shmem", Unit::Bytes, memory_cell<&OomVictim::shmem_bytes>},
      seen_column("cgroup_usage", Unit::Bytes, "cgroup_usage"),
      seen_column("cgroup_limit", Unit::Bytes, "cgroup_limit"),
      seen_column("load_averages", Unit::Text, "load_averages"),
      {"cgroup", Unit::Text, [](const OomKill& kill, Shown) { return unless_empty(kill.cgroup); }}};
  if (has_stacks) {
    columns.push_back(figure<&OomKill::stack>("stack", Unit::Stack));
  }
  return list_table("", 1 + columns.size(), kills, columns, context);
}

Table kill_table(std::span<const OomKill> kills, std::uint64_t start_ns) {
  Table table;
  table.title = "the last kill of each row";
  table.fixed = true;
  table.columns = {{"at_ns", Unit::Moment},
                   {"clock", Unit::Text},
                   {"victim", Unit::Text},
                   {"victim_pid", Unit::Number},
                   {"for", Unit::Text},
                   {"how", Unit::Text},
                   {"trigger", Unit::Text},
                   {"trigger_pid", Unit::Number},
                   {"stack", Unit::Stack}};
  table.key_count = table.columns.size();
  for (const OomKill& kill : kills) {
    table.rows.push_back({since(kill.time_ns, start_ns),
                          kill.seen ? fact(kill.seen->facts, "clock") : Cell(),
                          unless_empty(kill.victim),
                          unless_zero(kill.victim_pid),
                          unless_empty(kill.domain),
                          when(kill.has_victim(), how_it_ended(kill)),
                          unless_empty(kill.trigger),
                          std::uint64_t{kill.trigger_pid},
                          kill.stack});
  }
  return table;
}

Table victim_table(std::span<const OomKill> kills) {
  Table table;
  table.title = "memory of the victims";
  table.fixed = true;
  table.key_count = 2;
  table.columns = {{"victim_pid", Unit::Number},
                   {"cgroup", Unit::Text},
                   {"total_vm", Unit::Bytes},
                   {"anon", Unit::Bytes},
                   {"file", Unit::Bytes},
                   {"shmem", Unit::Bytes},
                   {"page_tables", Unit::Bytes},
                   {"uid", Unit::Number},
                   {"oom_score_adj", Unit::Number}};
  for (const OomKill& kill : kills) {
    if (!kill.has_victim()) {
      continue;
    }
    const bool known = kill.memory_known;
    table.rows.push_back({std::uint64_t{kill.victim_pid},
                          unless_empty(kill.cgroup),
                          when(known, kill.memory.total_vm_bytes),
                          when(known, kill.memory.anon_bytes),
                          when(known, kill.memory.file_bytes),
                          when(known, kill.memory.shmem_bytes),
                          when(known, kill.memory.page_table_bytes),
                          when(kill.owner_known, kill.memory.uid),
                          when(kill.owner_known, kill.memory.oom_score_adj)});
  }
  return table;
}

Table machine_table(std::span<const OomKill> kills) {
  Table table;
  table.title = "the machine at that moment";
  table.fixed = true;
  table.key_count = 2;
  table.columns = {{"victim_pid", Unit::Number},
                   {"load_averages", Unit::Text},
                   {"total", Unit::Bytes},
                   {"free", Unit::Bytes},
                   {"available", Unit::Bytes},
                   {"swap_total", Unit::Bytes},
                   {"swap_free", Unit::Bytes},
                   {"read_after_ns", Unit::Nanoseconds}};
  for (const OomKill& kill : kills) {
    if (!kill.seen) {
      continue;
    }
    const Facts& facts = kill.seen->facts;
    table.rows.push_back({std::uint64_t{kill.victim_pid},
                          fact(facts, "load_averages"),
                          fact(facts, "total"),
                          fact(facts, "free"),
                          fact(facts, "available"),
                          fact(facts, "swap_total"),
                          fact(facts, "swap_free"),
                          kill.seen->delay_ns});
  }
  return table;
}

Table cgroup_table(std::span<const OomKill> kills) {
  Table table{.title = "the memory cgroup at that moment",
              .columns = {{"victim_pid", Unit::Number},
                          {"cgroup_usage", Unit::Bytes},
                          {"cgroup_limit", Unit::Bytes}},
              .key_count = 1};
  table.fixed = true;
  for (const OomKill& kill : kills) {
    if (kill.seen && kill.seen->facts.number("cgroup_limit") != nullptr) {
      table.rows.push_back({std::uint64_t{kill.victim_pid},
                            fact(kill.seen->facts, "cgroup_usage"),
                            fact(kill.seen->facts, "cgroup_limit")});
    }
  }
  return table;
}

Table process_table(std::span<const OomKill> kills) {
  Table table;
  table.title = "the largest processes at that moment";
  table.fixed = true;
  table.key_count = 3;
  table.columns = {{"victim_pid", Unit::Number},
                   {"comm", Unit::Text},
                   {"pid", Unit::Number},
                   {"resident", Unit::Bytes},
                   {"swapped", Unit::Bytes},
                   {"oom_score", Unit::Number}};
  for (const OomKill& kill : kills) {
    for (const Facts& process : kill.seen ? kill.seen->rows : std::vector<Facts>()) {
      table.rows.push_back({std::uint64_t{kill.victim_pid},
                            fact(process, "comm"),
                            fact(process, "pid"),
                            fact(process, "resident"),
                            fact(process, "swapped"),
                            fact(process, "oom_score")});
    }
  }
  return table;
}

}  // namespace memtrace
