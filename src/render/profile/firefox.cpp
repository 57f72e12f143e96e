// Firefox Profiler: its processed format, version 48. Each cost is a track. Rows have no times: all
// samples lie at the start, and the one interval is as long as the report.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/visible.h"
#include "render/caveats.h"
#include "render/profile/firefox_thread.h"
#include "render/profile/profile_formats.h"
#include "render/profile/stack_profile.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMillisecondNs = 1e6;

std::string_view weight_type(Unit unit) {
  switch (unit) {
    case Unit::Bytes:
      return "bytes";
    case Unit::Nanoseconds:
      return "tracing-ms";
    default:
      return "samples";
  }
}

Json weight_in(Unit unit, std::int64_t weight) {
  return unit == Unit::Nanoseconds ? Json(static_cast<double>(weight) / kMillisecondNs)
                                   : Json(weight);
}

// In the order of CodeKind: frames have its numbers.
Json categories() {
  Json all = Json::array();
  for (const auto& [name, color] : {std::pair("Other", "grey"),
                                    std::pair("Program", "yellow"),
                                    std::pair("Library", "blue"),
                                    std::pair("Kernel", "orange")}) {
    all.push_back({{"name", name}, {"color", color}, {"subcategories", {"Other"}}});
  }
  return all;
}

Json entry(const std::string& label, const std::string& value) {
  return {{"label", visible(label)}, {"format", "string"}, {"value", visible(value)}};
}

// What the profiler shows about the recording.
Json about(const Report& report) {
  Json entries = Json::array();
  entries.push_back(entry("View", report.view));
  if (!report.origin.host.empty()) {
    entries.push_back(entry("Host", report.origin.host));
  }
  if (!report.origin.target.empty()) {
    entries.push_back(entry("Recording of", report.origin.target));
  }
  for (const std::string& line : caveat_lines(report.caveats)) {
    entries.push_back(entry("Caveat", line));
  }
  return Json::array({{{"label", "memtrace"}, {"entries", std::move(entries)}}});
}

Json meta_of(const Report& report, const std::string& version) {
  constexpr int kGeckoVersion = 27;
  constexpr int kProcessedVersion = 48;
  const auto duration_ns = static_cast<double>(report.end_ns - report.start_ns);
  return {
      {"categories", categories()},
      {"debug", false},
      {"extensions",
       {{"baseURL", Json::array()}, {"id", Json::array()}, {"name", Json::array()}, {"length", 0}}},
      {"interval", std::max(duration_ns / kMillisecondNs, 1.0)},
      {"startTime", static_cast<double>(report.clock.wall_start_ns) / kMillisecondNs},
      {"preprocessedProfileVersion", kProcessedVersion},
      {"version", kGeckoVersion},
      {"processType", 0},
      {"product", "memtrace " + version + " " + visible(report.view)},
      {"oscpu", visible(report.origin.kernel_release + " " + report.origin.architecture)},
      {"stackwalk", 1},
      {"toolkit", ""},
      {"symbolicated", true},
      {"usesOnlyOneStackType", true},
      {"doesNotUseFrameImplementation", true},
      {"sourceCodeIsNotOnSearchfox", true},
      {"markerSchema", Json::array()},
      {"extra", about(report)}};
}

Json thread_of(const StackProfile& profile, std::size_t kind, FirefoxLibraries& libraries) {
  FirefoxThread thread(libraries);
  const Unit unit = profile.kinds[kind].unit;
  for (const WeightedStack& stack : profile.stacks) {
    if (stack.weights[kind] != 0) {
      thread.add(stack, weight_in(unit, stack.weights[kind]));
    }
  }
  return thread.take(profile_title(profile, kind), weight_type(unit));
}

class FirefoxRenderer final : public Renderer {
 public:
  explicit FirefoxRenderer(const RenderOptions& options) : version_(options.version) {}

  // An overview is its first report: libraries are numbered in one report.
  void render(const Report& report, std::ostream& out) const override {
    const auto profiles = stack_profiles(report);
    const Report& shown = profiles.empty() ? report : *profiles.front().report;
    FirefoxLibraries libraries(shown);
    Json threads = Json::array();
    if (!profiles.empty()) {
      add_threads(profiles.front(), libraries, threads);
    }
    const Json file = {{"meta", meta_of(shown, version_)},
                       {"libs", libraries.take()},
                       {"pages", Json::array()},
                       {"profilerOverhead", Json::array()},
                       {"counters", Json::array()},
                       {"threads", std::move(threads)}};
    out << file.dump() << '\n';
  }

 private:
  // The main cost first: the profiler selects the first track.
  static void add_threads(const StackProfile& profile, FirefoxLibraries& libraries, Json& threads) {
    threads.push_back(thread_of(profile, profile.main_kind, libraries));
    for (std::size_t kind = 0; kind < profile.kinds.size(); ++kind) {
      if (kind != profile.main_kind && profile.total(kind) != 0) {
        threads.push_back(thread_of(profile, kind, libraries));
      }
    }
    for (std::size_t i = 0; i < threads.size(); ++i) {
      // A track of its own needs a process of its own.
      threads[i]["pid"] = std::to_string(i + 1);
      threads[i]["tid"] = std::to_string(i + 1);
      threads[i]["processName"] = threads[i]["name"];
    }
  }

  std::string version_;
};

}  // namespace

std::unique_ptr<Renderer> make_firefox_renderer(const RenderOptions& options) {
  return std::make_unique<FirefoxRenderer>(options);
}

}  // namespace memtrace
