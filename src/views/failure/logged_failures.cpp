#include "views/failure/logged_failures.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "views/failure/failure_rows.h"
#include "views/failure/page_failures.h"
#include "views/oom/logged_kills.h"
#include "views/reason/kill_reasons.h"
#include "views/reason/page_reasons.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kKibibyte = 1024;
constexpr std::string_view kFailed = ": page allocation failure";
constexpr std::size_t kOrders = 32;

std::string_view digits_of(std::string_view text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

std::optional<std::uint64_t> number_after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  return at == std::string_view::npos ? std::nullopt
                                      : parse_number(digits_of(line.substr(at + words.size())));
}

// "GFP_ATOMIC|__GFP_COMP" of "mode:0x40a20(GFP_ATOMIC|__GFP_COMP), ..."; before 4.4 "0x20".
std::string mode_of(std::string_view line) {
  const std::size_t at = line.find("mode:");
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view mode = line.substr(at + 5);
  const std::size_t open = mode.find('(');
  return open == std::string_view::npos || open > mode.find(',')
             ? "GFP flags " + std::string(trim(mode.substr(0, mode.find(','))))
             : std::string(mode.substr(open + 1, mode.find(')') - open - 1));
}

// "free:1024kB min:512kB ..." of a zone.
void read_marks(std::string_view line, Facts& facts) {
  for (const char* mark : {"free", "min", "low", "high"}) {
    if (const auto kilobytes = number_after(line, std::string(" ") + mark + ":")) {
      facts.numbers[mark] = *kilobytes * kKibibyte;
    }
  }
}

// A report of a failure (mm/page_alloc.c, warn_alloc, and lib/show_mem.c, show_free_areas):
//
//   swapper/0: page allocation failure: order:3, mode:0x40a20(GFP_ATOMIC|__GFP_COMP), ...
//   CPU: 1 PID: 812 Comm: hog Not tainted ...
//   Node 0 Normal free:38000kB min:44kB low:56kB high:68kB ...
//   Node 0 Normal: 12*4kB (UME) 3*8kB (U) 0*16kB ... = 72kB
//
// It is over where the next one begins.
class FailureReader {
 public:
  FailureReader(FailureRows& rows, std::optional<Observation>& last) : rows_(rows), last_(last) {}

  void read(std::string_view log) {
    for (const std::string_view line : split(log, '\n')) {
      read_line(line);
    }
    finish();
  }

  std::uint64_t count() const { return count_; }

 private:
  void read_line(std::string_view line);
  void finish();
  void read_zone(std::string_view line);
  static std::string blocks_of(std::string_view line);

  FailureRows& rows_;
  std::optional<Observation>& last_;
  std::optional<Failure> failure_;
  BlockRequest request_;
  Observation seen_;
  std::uint64_t count_ = 0;
};

void FailureReader::read_line(std::string_view line) {
  if (line.find(kFailed) != std::string_view::npos) {
    finish();
    const auto order = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(number_after(line, "order:").value_or(0), kOrders));
    request_ = {
        .order = order, .bytes = std::uint64_t{4 * kKibibyte} << order, .gfp = mode_of(line)};
    failure_ = Failure{.kind = "pages",
                       .what = "order " + std::to_string(order),
                       .comm = logged_name(line, kFailed),
                       .count = 1,
                       .clock = logged_time(line)};
    return;
  }
  if (!failure_ || line.find(" invoked oom-killer") != std::string_view::npos) {
    finish();
  } else if (failure_->pid == 0 && line.find(" Comm: ") != std::string_view::npos) {
    failure_->pid = static_cast<std::uint32_t>(number_after(line, "PID: ").value_or(0));
  } else if (const std::size_t node = line.find("Node "); node != std::string_view::npos) {
    read_zone(line.substr(node));
  }
}

// "12 3 0" of "... 12*4kB (UME) 3*8kB (U) 0*16kB = 72kB".
std::string FailureReader::blocks_of(std::string_view line) {
  std::string blocks;
  for (const std::string_view word : split(line, ' ')) {
    const std::size_t star = word.find('*');
    if (star != std::string_view::npos && word.ends_with("kB")) {
      blocks.append(blocks.empty() ? "" : " ").append(word.substr(0, star));
    }
  }
  return blocks;
}

void FailureReader::read_zone(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() < 4) {
    return;
  }
  const std::string zone(words[2].substr(0, words[2].find(':')));
  const std::uint64_t node = parse_number(words[1]).value_or(0);
  auto row = std::ranges::find_if(seen_.rows, [&](const Facts& known) {
    return known.texts.at("zone") == zone && known.numbers.at("node") == node;
  });
  if (words[3].starts_with("free:")) {
    Facts& facts = seen_.rows.emplace_back();
    facts.texts["zone"] = zone;
    facts.numbers["node"] = node;
    read_marks(line, facts);
  } else if (row != seen_.rows.end() && words[3].find('*') != std::string_view::npos) {
    row->texts["blocks"] = blocks_of(line);
  }
}

void FailureReader::finish() {
  if (!failure_) {
    return;
  }
  std::erase_if(seen_.rows, [](const Facts& row) { return row.text("blocks") == nullptr; });
  failure_->reason = reason_of(request_, seen_.rows.empty() ? nullptr : &seen_);
  if (!seen_.rows.empty()) {
    last_ = seen_;
  }
  rows_.add(*std::exchange(failure_, std::nullopt));
  seen_ = {};
  ++count_;
}

void add_kill(const OomKill& kill, FailureRows& rows) {
  Observation seen = kill.seen.value_or(Observation());
  if (!kill.cgroup.empty()) {
    seen.facts.texts["cgroup"] = kill.cgroup;
  }
  const std::string* clock = seen.facts.text("clock");
  rows.add({.kind = "kill",
            .what = "OOM kill",
            .comm = kill.victim,
            .pid = kill.victim_pid,
            .reason = reason_of(KillFacts{.trigger = kill.trigger,
                                          .domain = kill.domain,
                                          .held = kill.memory.anon_bytes,
                                          .seen = &seen}),
            .count = 1,
            .clock = clock == nullptr ? "" : *clock});
}

}  // namespace

Report report_logged_failures(std::string_view log) {
  FailureRows rows;
  std::optional<Observation> last;
  FailureReader reader(rows, last);
  reader.read(log);
  const std::vector<OomKill> kills = kills_in_log(log);
  for (const OomKill& kill : kills) {
    add_kill(kill, rows);
  }
  Report report{.view = "failures", .title = "memory that was refused, by the kernel's log"};
  report.totals = {{"allocations", Unit::Count, reader.count()},
                   {"kills", Unit::Count, kills.size()}};
  report.tables.push_back(rows.table(std::nullopt));
  if (last) {
    report.tables.push_back(free_block_table(*last));
  }
  return report;
}

}  // namespace memtrace
