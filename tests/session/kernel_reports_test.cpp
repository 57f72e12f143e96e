// The same happenings, written down as each kernel would: every view reports the figures that were
// put in, as far as the kernel reports them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "perf/file_in/file_source.h"
#include "plan/events/event_traits.h"
#include "sections/embedded_symbols.h"
#include "sections/recording_facts.h"
#include "session/session.h"
#include "support/golden.h"
#include "support/kernel_recording.h"
#include "support/temp_dir.h"
#include "tracepoints/decode/alternatives.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

using test::KernelFile;
using test::KernelFormats;
using test::KernelRecording;

// What `record --for` all views would record there.
std::vector<std::string> recorded_events(const KernelFormats& kernel) {
  std::vector<std::string> events;
  const auto exists = [&kernel](std::string_view event) { return kernel.has(event); };
  const auto add = [&](std::span<const std::string_view> needs) {
    for (const NeedState& state : examine_needs(needs, exists)) {
      const bool is_one = !state.chosen.empty() && state.chosen.find('*') == std::string::npos;
      if (is_one && std::ranges::find(events, state.chosen) == events.end()) {
        events.push_back(state.chosen);
      }
    }
  };
  for (const NamedView& view : all_views()) {
    add(view.spec.needs);
  }
  add(memory_map_needs());
  for (const char* probe :
       {"memtrace_heap_1:malloc", "memtrace_heap_1:malloc_ret", "memtrace_heap_1:free"}) {
    if (kernel.has(probe)) {
      events.emplace_back(probe);
    }
  }
  return events;
}

// What the file holds beside the records: names, for a signal was the OOM killer's when the
// kernel's stack says so, and the machine's caches.
Recording end_of_file() {
  EmbeddedSymbols symbols;
  symbols.add({.kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]"},
              KernelRecording::kKernelFunction,
              {{.function = "oom_kill_process", .kernel = true}});
  symbols.add({.kind = ModuleKind::Kernel, .path = "[kernel.kallsyms]"},
              KernelRecording::kKernelFunction - 1,
              {{.function = "oom_kill_process", .kernel = true}});
  Recording end;
  end.symbols_json = symbols.to_json();
  end.about_json = to_json(RecordingFacts{.slab_caches = {{"dentry", 192}}});
  return end;
}

std::string cell_text(const Cell& cell) {
  if (const auto* number = std::get_if<std::uint64_t>(&cell)) {
    return std::to_string(*number);
  }
  if (const auto* difference = std::get_if<std::int64_t>(&cell)) {
    return std::to_string(*difference);
  }
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "-" : *text;
}

// "totals: count=2 ... / table: row; row".
std::string outcome(const Report& report) {
  std::string text;
  for (const Total& total : report.totals) {
    text += total.name + "=" + std::to_string(total.value) + " ";
  }
  for (const Table& table : report.tables) {
    if (table.rows.empty()) {
      continue;
    }
    text += "\n    [" + table.title + "]";
    for (const auto& row : table.rows) {
      text += "\n     ";
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (table.columns[i].unit != Unit::Stack) {
          text += " " + table.columns[i].name + "=" + cell_text(row[i]);
        }
      }
    }
  }
  return text;
}

struct KernelReports {
  std::map<std::string, std::string> outcomes;  // by view
  Caveats caveats;
};

// What count and calls say of all events is in the other reports.
bool lists_events(const NamedView& view) {
  return view.name == "count" || view.name == "calls";
}

// `key`: "" for each view's own.
void report(const std::string& path, const std::string& key, KernelReports& result) {
  auto source = open_file_source(path);
  ASSERT_TRUE(source.ok());
  SessionOptions options;
  for (const NamedView& view : all_views()) {
    const bool has_key = std::ranges::find(view.spec.keys, key) != view.spec.keys.end();
    if (!lists_events(view) && (key.empty() || has_key)) {
      options.views.push_back(&view);
    }
  }
  if (!key.empty()) {
    options.view_options.by = {key};
  }
  const auto views = options.views;
  auto session = Session::create(*source.value(), std::move(options));
  ASSERT_TRUE(session.ok());
  const auto done = session.value()->run([&](std::vector<Report> reports) -> Result<> {
    for (std::size_t i = 0; i < reports.size(); ++i) {
      const std::string name = std::string(views[i]->name) + (key.empty() ? "" : " by " + key);
      result.outcomes[name] =
          session.value()->view_has_events(i) ? outcome(reports[i]) : "nothing recorded";
    }
    result.caveats = reports.front().caveats;
    return kDone;
  });
  ASSERT_TRUE(done.ok());
}

// The golden file shows at a glance where a kernel's figures differ from the others'.
TEST(kernel_reports, happenings_are_reported_alike_from_every_kernel) {
  const KernelFile file;
  const test::TempDir folder;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> by_view;
  for (const std::string& name : file.names()) {
    const KernelFormats kernel = file.kernel(name);
    const std::string path = folder.path() + "/" + name;
    ASSERT_TRUE(KernelRecording(kernel, recorded_events(kernel)).write(path, end_of_file()).ok());
    KernelReports reports;
    report(path, "gfp", reports);
    report(path, "", reports);
    EXPECT_EQ(reports.caveats.malformed, 0U) << name;
    EXPECT_EQ(reports.caveats.missing(), 0U) << name;
    for (const auto& [view, text] : reports.outcomes) {
      auto& lines = by_view[view];
      auto known = std::ranges::find(lines, text, &std::pair<std::string, std::string>::first);
      if (known == lines.end()) {
        known = lines.insert(lines.end(), {text, ""});
      }
      known->second += " " + name;
    }
  }
  std::string table;
  for (const auto& [view, lines] : by_view) {
    table += view + "\n";
    for (const auto& [text, kernels] : lines) {
      table += " " + (lines.size() == 1 ? " all" : kernels) + ": " + text + "\n";
    }
  }
  test::expect_golden("kernel_reports.txt", table);
}

}  // namespace
}  // namespace memtrace
