// One run of `memtrace top`: the session's intervals and the user's keys to frames, on a terminal
// or as text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cli/terminal/terminal.h"
#include "cli/top/pane_table.h"
#include "cli/top/state.h"
#include "report/namer.h"
#include "report/report.h"

namespace memtrace {

class TopScreen {
 public:
  struct Setup {
    TopState state;
    TopTerminal* terminal = nullptr;  // null: text
    ScreenSize text_size{};           // of it
    std::vector<std::uint32_t> pids;  // that are watched; empty: all
    std::function<Result<>(const std::string&)> print;
  };

  explicit TopScreen(Setup setup) : setup_(std::move(setup)) {}

  // An interval has ended; `namer` knows its stacks and lives until the next.
  Result<> show(std::vector<Report> reports, Namer& namer);

  // Keys, and another size of the terminal. False: the user wants to end.
  bool look();

 private:
  TopSnapshot snapshot_of(std::vector<Report> reports) const;
  void add_processes(TopSnapshot& snapshot) const;
  void draw();

  Setup setup_;
  TopSnapshot snapshot_;
  Namer* namer_ = nullptr;
  std::optional<ScreenSize> drawn_;  // the size of the last frame
};

}  // namespace memtrace
