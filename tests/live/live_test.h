// What the live tests share: a scratch folder, memtrace and perf run in it, and figures out of what
// they print. MEMTRACE and PUPPETS are set for all scripts.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>

#include "os/unique_fd.h"
#include "support/run_command.h"
#include "support/temp_dir.h"

namespace memtrace::test {

inline constexpr std::uint64_t kPageBytes = 4096;

using Json = nlohmann::json;

// What each script may use.
//
//   begin $MEMTRACE record ...   in the background; returns when it records. Its pid is $RECORDER.
//   await WORD FILE PID          until a program has said so; fails when it has ended.
//   begin_perf perf's words      as begin; the pid is $PERF. Without -D and --control.
inline constexpr const char* kScriptFunctions = R"(
begin() {
  rm -f ready; mkfifo ready || return 1
  MEMTRACE_READY_FD=9 "$@" 9>ready &
  RECORDER=$!
  read -r told_by_memtrace <ready
}
await() {
  until grep -q "$1" "$2"; do kill -0 "$3" || return 1; sleep 0.02; done
}
begin_perf() {
  rm -f control ack; mkfifo control ack || return 1
  perf record -D -1 --control fifo:control,ack "$@" &
  PERF=$!
  timeout 20 sh -c 'echo enable >control; head -n 1 ack' | grep -q ack
}
)";

// The number of samples of each event in a file.
using EventCounts = std::map<std::string, std::uint64_t>;

class LiveTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "not root: the kernel's tracepoints can be opened by root only";
    }
  }

  void need_perf() {
    if (run("perf version").status != 0) {
      GTEST_SKIP() << "perf is not installed: there is nothing to compare with";
    }
  }

  static Environment environment() {
    return {{"MEMTRACE", MEMTRACE_PROGRAM},
            {"PUPPETS", PUPPETS_FOLDER},
            {"LIVE_TEST_DATA", LIVE_TEST_DATA},
            {"HOME", "/nonexistent"},  // no .perfconfig
            {"LC_ALL", "C"}};
  }

  Outcome run(const std::string& script) {
    return run_script(kScriptFunctions + script, dir_.path(), environment());
  }

  std::unique_ptr<Background> start(const std::string& script) {
    return std::make_unique<Background>(script, dir_.path(), environment());
  }

  // The same with `exec $MEMTRACE ...` at its end: returns when it records.
  std::unique_ptr<Background> start_recording(const std::string& script) {
    static int started = 0;
    const std::string path = dir_.file("ready-" + std::to_string(started++));
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const UniqueFd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    auto memtrace = start("exec 9>" + path + "; export MEMTRACE_READY_FD=9; " + script);
    pollfd wait{.fd = reader.get(), .events = POLLIN, .revents = 0};
    constexpr int kPatienceMilliseconds = 20'000;
    EXPECT_EQ(::poll(&wait, 1, kPatienceMilliseconds), 1) << memtrace->err();
    EXPECT_NE(wait.revents & POLLIN, 0) << memtrace->err();
    return memtrace;
  }

  Outcome run_well(const std::string& script) {
    Outcome outcome = run(script);
    EXPECT_EQ(outcome.status, 0) << script << "\n" << outcome.all();
    return outcome;
  }

  // The words go behind "memtrace report --format json".
  Json report(const std::string& words) {
    return json_of("$MEMTRACE report --format json " + words);
  }

  Json json_of(const std::string& script) {
    const Outcome outcome = run_well(script);
    const Json parsed = Json::parse(outcome.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << script << "\n" << outcome.all();
    return parsed.is_discarded() ? Json::object() : parsed;
  }

  // Of --trace: the report, and what stood above it as "lines".
  Json traced(const std::string& script) {
    std::istringstream out(run_well(script).out);
    Json lines = Json::array();
    for (std::string line; std::getline(out, line);) {
      lines.push_back(Json::parse(line, nullptr, false));
      EXPECT_FALSE(lines.back().is_discarded()) << line;
    }
    EXPECT_FALSE(lines.empty()) << script;
    Json report = lines.empty() ? Json::object() : lines.back();
    lines.erase(lines.size() - 1);
    report["lines"] = std::move(lines);
    return report;
  }

  // The words go behind "memtrace report --format json --trace".
  Json traced_report(const std::string& words) {
    return traced("$MEMTRACE report --format json --trace " + words);
  }

  // From memtrace's overview of a file.
  EventCounts own_counts(const std::string& file) {
    EventCounts counts;
    const Json overview = report("--all -i " + file);
    for (const Json& row : overview.at("tables").at(0).at("rows")) {
      counts[row.at("event")] = row.at("samples");
    }
    return counts;
  }

  // Lines of `perf script`, one for each sample; words as for perf script.
  EventCounts perf_counts(const std::string& words) {
    EventCounts counts;
    std::istringstream lines(run_well("perf script -F event -G -i " + words).out);
    std::string event;
    while (lines >> event) {
      ++counts[event.substr(0, event.find_last_of(':'))];
    }
    return counts;
  }

  TempDir dir_;
};

inline bool begins_with(const Json& name, std::string_view start) {
  return name.is_string() && name.get<std::string>().starts_with(start);
}

// Sum of a figure over the rows of the first table whose stack has the function.
inline std::uint64_t sum_with_function(const Json& report,
                                       std::string_view function,
                                       const char* figure = "count") {
  std::uint64_t sum = 0;
  for (const Json& row : report.at("tables").at(0).at("rows")) {
    for (const Json& frame : row.at("stack")) {
      if (begins_with(frame, function)) {
        sum += row.at(figure).get<std::uint64_t>();
        break;
      }
    }
  }
  return sum;
}

// The same where the function is the innermost of the stack: record or report with --user.
inline std::uint64_t sum_at_function(const Json& report,
                                     std::string_view function,
                                     const char* figure = "count") {
  std::uint64_t sum = 0;
  for (const Json& row : report.at("tables").at(0).at("rows")) {
    const Json& stack = row.at("stack");
    if (stack.is_array() && !stack.empty() && begins_with(stack.front(), function)) {
      sum += row.at(figure).get<std::uint64_t>();
    }
  }
  return sum;
}

// A figure of the one row with this key; 0 when there is none.
inline std::uint64_t figure_of(const Json& report,
                               const char* key,
                               const Json& value,
                               const char* figure = "count") {
  for (const Json& row : report.at("tables").at(0).at("rows")) {
    if (row.at(key) == value) {
      return row.at(figure);
    }
  }
  return 0;
}

inline std::uint64_t lost_in(const Json& report) {
  return report.at("caveats").at("lost");
}

}  // namespace memtrace::test
