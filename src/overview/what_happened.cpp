#include "overview/what_happened.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/units.h"
#include "base/wall_time.h"
#include "overview/finding.h"
#include "overview/row_groups.h"
#include "overview/stack_words.h"

namespace memtrace {
namespace {

constexpr std::size_t kMostTriggers = 5;
constexpr std::size_t kMostTakers = 3;
constexpr std::uint64_t kWorthALine = std::uint64_t{1} << 20;

// "at 2026-11-23 14:03:59, 60.0 s after the file begins".
std::string moment_of(std::uint64_t time_ns, const WhatHappened& facts) {
  const std::uint64_t since_ns = time_ns - std::min(time_ns, facts.start_ns);
  std::string after = print_duration(since_ns) + " after the file begins";
  if (facts.clock.wall_start_ns == 0) {
    return after;
  }
  const std::uint64_t wall_ns = facts.clock.wall_start_ns + since_ns;
  return "at " + local_date(wall_ns) + " " + local_time(wall_ns).substr(0, 8) + ", " + after;
}

// Of a trigger's first word: "rss" of "rss(redis)>4G".
std::string command_for(const std::string& word) {
  const std::string name = word.substr(0, word.find_first_of("(<>"));
  constexpr auto kCommands = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"oom", "oom"}, {"enomem", "enomem"}, {"reclaim", "reclaim"}, {"swap-in", "faults"}});
  const auto* const found =
      std::ranges::find(kCommands, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kCommands.end() ? "growth --by comm" : std::string(found->second);
}

void add(const std::string& about,
         const std::string& sentence,
         const std::string& command,
         Table& table) {
  table.rows.push_back({about, sentence, "memtrace report " + command});
}

void add_triggers(const WhatHappened& facts, Table& table) {
  const auto& triggers = facts.watch.triggers;
  for (std::size_t i = 0; i < std::min(triggers.size(), kMostTriggers); ++i) {
    add(i == 0 ? "trigger" : "also",
        fmt::format("{} {} {}: {}.",
                    triggers[i].word,
                    i == 0 ? "fired" : "followed",
                    moment_of(triggers[i].time_ns, facts),
                    triggers[i].text),
        command_for(triggers[i].word) + facts.arguments,
        table);
  }
}

void add_grown(const WhatHappened& facts, Table& table) {
  for (const GrownProcess& process : facts.watch.grown) {
    add("grew",
        fmt::format("{} (pid {}) grew by {} to {} in the {} before.",
                    subject_of(process.comm),
                    process.pid,
                    print_bytes(process.bytes - process.before_bytes),
                    print_bytes(process.bytes),
                    print_duration(facts.watch.sizes_ns)),
        "growth" + comm_option(process.comm) + facts.arguments,
        table);
  }
}

void add_taken(const WhatHappened& facts, Namer& namer, Table& table) {
  static constexpr auto kKeys = std::to_array<std::string_view>({"comm", "pid"});
  static constexpr auto kFigures = std::to_array<std::string_view>({"bytes"});
  if (facts.taken == nullptr || facts.taken->tables.empty()) {
    return;
  }
  const auto takers = group_rows(facts.taken->tables.front(), kKeys, kFigures);
  for (std::size_t i = 0; i < std::min(takers.size(), kMostTakers); ++i) {
    if (takers[i].figures[0] < kWorthALine) {
      break;
    }
    add("allocated",
        fmt::format("{} (pid {}) touched {} of memory first in the 10 s before{}.",
                    subject_of(takers[i].keys[0]),
                    takers[i].keys[1],
                    print_bytes(takers[i].figures[0]),
                    most_in(culprit_of(namer.stack(takers[i].stack)))),
        "growth" + comm_option(takers[i].keys[0]) + facts.arguments,
        table);
  }
}

}  // namespace

Table what_happened(const WhatHappened& facts, Namer& namer) {
  Table table{.title = "what happened",
              .columns = {{"about", Unit::Text}, {"finding", Unit::Text}, {"command", Unit::Text}},
              .key_count = 3,
              .fixed = true,
              .paragraphs = true};
  add_triggers(facts, table);
  if (!table.rows.empty()) {
    add_grown(facts, table);
    add_taken(facts, namer, table);
  }
  return table;
}

}  // namespace memtrace
