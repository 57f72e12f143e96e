#include "overview/first_screen.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "overview/finding.h"
#include "overview/screen_part.h"
#include "overview/second_part.h"
#include "overview/whole_recording.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

// With three lines for each, and ten for what was recorded and what is missing, one screen.
constexpr std::size_t kMostFindings = 12;

// What is in the recording and can be looked at.
std::string note_of(const std::vector<bool>& has_events, std::size_t left_out) {
  std::string note;
  if (left_out > 0) {
    note = counted(left_out, "more finding", "more findings") + " of less weight\n";
  }
  std::string names;
  for (std::size_t i = 0; i < all_finders().size(); ++i) {
    if (has_events[i]) {
      names += (names.empty() ? "" : ", ") + std::string(all_finders()[i].view);
    }
  }
  return note + (names.empty() ? "" : "views looked at: " + names + "; --all shows all views");
}

Table finding_table(std::vector<Finding> findings,
                    const std::vector<bool>& has_events,
                    const std::string& arguments) {
  const std::size_t found = findings.size();
  findings.resize(std::min(found, kMostFindings));
  Table table{.title = findings.empty() ? "nothing stands out" : "findings",
              .columns = {{"view", Unit::Text}, {"finding", Unit::Text}, {"command", Unit::Text}},
              .key_count = 3,
              .note = note_of(has_events, found - findings.size()),
              .fixed = true,
              .paragraphs = true};
  for (const Finding& finding : findings) {
    table.rows.push_back(
        {finding.view, finding.sentence, "memtrace report " + finding.command + arguments});
  }
  return table;
}

// Those of live blocks and swapin look at the stacks of allocations, the others at those of page
// faults: no stack is looked up twice.
std::vector<std::vector<std::size_t>> halves() {
  std::vector<std::vector<std::size_t>> halves(2);
  for (std::size_t i = 0; i < all_finders().size(); ++i) {
    const std::string_view view = all_finders()[i].view;
    const bool is_of_allocations = find_view(view)->spec.needs_live_blocks || view == "swapin";
    halves[is_of_allocations ? 1 : 0].push_back(i);
  }
  return halves;
}

std::vector<std::vector<std::size_t>> whole() {
  std::vector<std::size_t> all(all_finders().size());
  std::iota(all.begin(), all.end(), 0);
  return {all};
}

Result<> run_both(std::vector<ScreenPart>& parts,
                  std::span<const std::unique_ptr<RecordSource>> of) {
  SecondPart second(parts[1], *of[1], *of[0]);
  const auto first = parts[0].run();
  const auto other = second.end();
  return first.ok() ? other : first;
}

// Of a filter by tasks each session says for itself whom it could not judge: one has to see all.
bool may_share(const SessionOptions& options) {
  return options.view_options.tasks.empty() && !options.view_options.asks_identity();
}

}  // namespace

Result<Report> make_first_screen(RecordSource& source,
                                 SessionOptions options,
                                 const std::string& arguments) {
  std::vector<std::unique_ptr<RecordSource>> readers;
  if (may_share(options)) {
    readers = source.share(2);
  }
  const auto finders = readers.empty() ? whole() : halves();
  std::vector<ScreenPart> parts;
  for (std::size_t i = 0; i < finders.size(); ++i) {
    RecordSource& own = readers.empty() ? source : *readers[i];
    auto part = ScreenPart::create(own, options, finders[i]);
    if (!part.ok()) {
      return part.take_error();
    }
    parts.push_back(part.take());
  }
  TRY(readers.empty() ? parts.front().run() : run_both(parts, readers));
  Screen found{.findings = {},
               .reports = std::vector<Report>(all_finders().size()),
               .has_events = std::vector<bool>(all_finders().size())};
  for (ScreenPart& part : parts) {
    part.add_to(found);
  }
  sort_by_weight(found.findings);
  Report screen{.view = "overview"};
  screen.caveats = shared_caveats(found.reports);
  screen.clock = found.reports.front().clock;
  // A process without a record of its own is known by its stacks alone.
  const auto& most = *std::ranges::max_element(
      parts, {}, [](const ScreenPart& part) { return part.session().world().processes().seen(); });
  describe_recording(most.session(), source.recording(), screen);
  screen.tables.push_back(finding_table(std::move(found.findings), found.has_events, arguments));
  return screen;
}

}  // namespace memtrace
