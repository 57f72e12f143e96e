// speedscope: its own JSON format. Each cost is a sampled profile of its own, whose samples are the
// rows, heaviest first as the view has them: they have no times.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "base/units.h"
#include "base/visible.h"
#include "render/profile/profile_formats.h"
#include "render/profile/stack_profile.h"

namespace memtrace {
namespace {

using Json = nlohmann::ordered_json;

std::string_view speedscope_unit(Unit unit) {
  switch (unit) {
    case Unit::Bytes:
      return "bytes";
    case Unit::Nanoseconds:
      return "nanoseconds";
    default:
      return "none";
  }
}

// All frames of the file, each once. speedscope colours frames by their file: of a function without
// a source that is its module.
class SpeedscopeFrames {
 public:
  std::size_t index_of(const ProfileStep& step) {
    const std::string file = step.frame == nullptr ? "" : file_of(*step.frame);
    const std::uint32_t line = step.frame == nullptr ? 0 : step.frame->line;
    const auto [found, is_new] = indexes_.try_emplace({step.name, file, line}, indexes_.size());
    if (is_new) {
      add(step.name, file, line);
    }
    return found->second;
  }

  Json take() { return std::move(frames_); }

 private:
  static std::string file_of(const Frame& frame) {
    return visible(frame.file.empty() ? frame.module : frame.file);
  }

  void add(const std::string& name, const std::string& file, std::uint32_t line) {
    Json frame = {{"name", name}};
    if (!file.empty()) {
      frame["file"] = file;
    }
    if (line != 0) {
      frame["line"] = line;
    }
    frames_.push_back(std::move(frame));
  }

  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::size_t> indexes_;
  Json frames_ = Json::array();
};

Json sampled(const StackProfile& profile, std::size_t kind, SpeedscopeFrames& frames) {
  Json samples = Json::array();
  Json weights = Json::array();
  std::int64_t total = 0;
  for (const WeightedStack& stack : profile.stacks) {
    const std::int64_t weight = stack.weights[kind];
    if (weight <= 0) {
      continue;
    }
    Json sample = Json::array();
    for (const ProfileStep& step : stack.steps) {
      sample.push_back(frames.index_of(step));
    }
    samples.push_back(std::move(sample));
    weights.push_back(weight);
    total += weight;
  }
  return {{"type", "sampled"},
          {"name", profile_title(profile, kind)},
          {"unit", speedscope_unit(profile.kinds[kind].unit)},
          {"startValue", 0},
          {"endValue", total},
          {"samples", std::move(samples)},
          {"weights", std::move(weights)}};
}

// What it lacks stands in its title: the format has no other place for it.
std::string title_with_loss(const Report& report) {
  const std::uint64_t missing = report.caveats.missing();
  return visible(report.title.empty() ? report.view : report.title) +
         (missing == 0 ? "" : " (" + counted(missing, "event", "events") + " lost)");
}

class SpeedscopeRenderer final : public Renderer {
 public:
  explicit SpeedscopeRenderer(const RenderOptions& options) : version_(options.version) {}

  void render(const Report& report, std::ostream& out) const override {
    SpeedscopeFrames frames;
    Json profiles = Json::array();
    std::size_t shown_first = 0;
    for (const StackProfile& profile : stack_profiles(report)) {
      shown_first = profiles.empty() ? profile.main_kind : shown_first;
      for (std::size_t kind = 0; kind < profile.kinds.size(); ++kind) {
        profiles.push_back(sampled(profile, kind, frames));
      }
    }
    const Json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                       {"exporter", "memtrace@" + version_},
                       {"name", title_with_loss(report)},
                       {"activeProfileIndex", shown_first},
                       {"shared", {{"frames", frames.take()}}},
                       {"profiles", std::move(profiles)}};
    out << file.dump() << '\n';
  }

 private:
  std::string version_;
};

}  // namespace

std::unique_ptr<Renderer> make_speedscope_renderer(const RenderOptions& options) {
  return std::make_unique<SpeedscopeRenderer>(options);
}

}  // namespace memtrace
