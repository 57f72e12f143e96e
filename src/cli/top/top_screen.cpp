#include "cli/top/top_screen.h"

#include <algorithm>

#include "cli/top/compose.h"
#include "cli/top/controls.h"
#include "cli/top/process_table.h"
#include "os/system.h"

namespace memtrace {
namespace {

// Before the first interval has ended there is nothing to name.
class NoNames final : public Namer {
 public:
  const Frames& stack(StackId /*id*/) override { return none_; }

  const Frames& location(LocationId /*id*/) override { return none_; }

 private:
  Frames none_;
};

std::vector<std::uint32_t> pids_of(const Table& processes) {
  std::vector<std::uint32_t> pids;
  for (const std::vector<Cell>& row : processes.rows) {
    const auto* pid = std::get_if<std::uint64_t>(&row.front());
    if (pid != nullptr && (pids.empty() || pids.back() != *pid)) {
      pids.push_back(static_cast<std::uint32_t>(*pid));
    }
  }
  return pids;
}

}  // namespace

// Reading /proc costs more than all else of a quiet interval: only for a pane that may be shown.
void TopScreen::add_processes(TopSnapshot& snapshot) const {
  const std::size_t pane = setup_.state.pane;
  const bool may_be_shown = pane == 0 || pane + 1 == setup_.state.panes.size();
  std::vector<std::uint32_t> pids = setup_.pids;
  if (may_be_shown && !pids.empty()) {
    const auto others = pids_of(process_table(snapshot.reports, {}));
    pids.insert(pids.end(), others.begin(), others.end());
    std::ranges::sort(pids);
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  }
  snapshot.processes = process_table(
      snapshot.reports, may_be_shown ? read_resident(pids) : std::vector<ResidentProcess>{});
}

TopSnapshot TopScreen::snapshot_of(std::vector<Report> reports) const {
  constexpr double kNsPerSecond = 1e9;
  TopSnapshot snapshot{.reports = std::move(reports), .clock = clock_time()};
  const Report& first = snapshot.reports.front();
  snapshot.seconds = static_cast<double>(first.end_ns - first.start_ns) / kNsPerSecond;
  for (Report& report : snapshot.reports) {
    std::ranges::for_each(report.tables, make_rows);
  }
  add_processes(snapshot);
  return snapshot;
}

Result<> TopScreen::show(std::vector<Report> reports, Namer& namer) {
  namer_ = &namer;
  if (!setup_.state.paused) {
    snapshot_ = snapshot_of(std::move(reports));
  }
  if (setup_.terminal == nullptr) {
    return setup_.print(text_of(compose_batch(setup_.state, snapshot_, setup_.text_size, namer)) +
                        "\n");
  }
  draw();
  return kDone;
}

bool TopScreen::look() {
  if (setup_.terminal == nullptr) {
    return true;
  }
  TopTerminal& terminal = *setup_.terminal;
  const std::vector<Key> keys = terminal.take_keys();
  for (const Key& key : keys) {
    if (!act(setup_.state, key)) {
      return false;
    }
  }
  terminal.send_rest();
  if (!keys.empty() || drawn_ != terminal.size()) {
    draw();
  }
  return !terminal.is_gone();
}

void TopScreen::draw() {
  TopTerminal& terminal = *setup_.terminal;
  if (!terminal.is_ready()) {
    return;
  }
  NoNames nobody;
  const ScreenSize size = terminal.size();
  if (setup_.state.wants_redraw || drawn_ != size) {
    terminal.forget_screen();
    setup_.state.wants_redraw = false;
  }
  terminal.show(compose(setup_.state, snapshot_, size, namer_ == nullptr ? nobody : *namer_));
  drawn_ = size;
}

}  // namespace memtrace
