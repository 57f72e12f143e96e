// massif's output file, for ms_print and massif-visualizer: the live heap over time, the stacks of
// what was live at the peak, and of what is live at the end. Made from the heap view alone.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/visible.h"
#include "render/profile/profile_formats.h"
#include "render/profile/stack_tree.h"

namespace memtrace {
namespace {

// Smaller parts are merged into one line, as massif does below a hundredth.
constexpr double kSmallestPart = 0.001;

struct MassifSnapshot {
  std::uint64_t at_ns = 0;  // since the start
  std::uint64_t bytes = 0;
  std::optional<std::size_t> kind{};  // the cost that its stacks have
  bool is_peak = false;
};

std::uint64_t total_named(const Report& report, std::string_view name) {
  const auto found = std::ranges::find(report.totals, name, &Total::name);
  return found == report.totals.end() ? 0 : found->value;
}

std::optional<std::size_t> kind_named(const StackProfile& profile, std::string_view name) {
  const auto found = std::ranges::find(profile.kinds, name, &WeightKind::name);
  if (found == profile.kinds.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - profile.kinds.begin());
}

// In the order of time; the peak takes the place of the figure of its moment.
std::vector<MassifSnapshot> snapshots_of(const StackProfile& profile) {
  const Report& report = *profile.report;
  std::map<std::uint64_t, MassifSnapshot> by_time;
  for (const Series& series : report.series) {
    for (const auto& [time_ns, bytes] : series.points) {
      const std::uint64_t at_ns = time_ns - std::min(time_ns, report.start_ns);
      by_time[at_ns] = {.at_ns = at_ns, .bytes = bytes};
    }
  }
  if (const auto peak = kind_named(profile, "peak")) {
    const std::uint64_t at_ns = total_named(report, "peak_at_ns");
    by_time[at_ns] = {at_ns, static_cast<std::uint64_t>(profile.total(*peak)), peak, true};
  }
  if (const auto leaked = kind_named(profile, "leaked")) {
    // Behind a peak that is the last moment.
    std::uint64_t at_ns = report.end_ns - report.start_ns;
    at_ns += by_time.contains(at_ns) && by_time[at_ns].is_peak ? 1 : 0;
    by_time[at_ns] = {at_ns, static_cast<std::uint64_t>(profile.total(*leaked)), leaked, false};
  }
  std::vector<MassifSnapshot> snapshots;
  snapshots.reserve(by_time.size());
  for (const auto& [at_ns, snapshot] : by_time) {
    snapshots.push_back(snapshot);
  }
  return snapshots;
}

// "0x1234: parse (main.c:12)", "0x1234: parse (in /usr/bin/demo)".
std::string massif_place(const ProfileStep& step, const Report& report) {
  if (step.frame == nullptr) {
    return "0x0: " + step.name;
  }
  const Frame& frame = *step.frame;
  std::string text = fmt::format("0x{:X}: {}", frame.address, step.name);
  if (!frame.file.empty()) {
    return text + fmt::format(" ({}:{})",
                              visible(frame.file.substr(frame.file.rfind('/') + 1)),
                              frame.line);
  }
  const auto module = report.modules.find(frame.file_id);
  const std::string& file = module == report.modules.end() ? frame.module : module->second.path;
  return file.empty() ? text : text + " (in " + visible(file) + ")";
}

// A tree from the allocator outwards, as massif writes it: each line is indented by its depth and
// says how many lines below it are its own.
class MassifTree {
 public:
  MassifTree(const StackProfile& profile, std::size_t kind)
      : report_(*profile.report),
        tree_(profile, kind, StackTree::Direction::FromInnermost),
        smallest_(static_cast<double>(tree_.root().weight) * kSmallestPart) {}

  void write(std::ostream& out) const {
    // Nodes below the one whose line is written next, the next one last.
    std::vector<Line> waiting = {{.node = 0}};
    while (!waiting.empty()) {
      const Line line = waiting.back();
      waiting.pop_back();
      out << std::string(line.depth, ' ');
      if (line.merged_count > 0) {
        out << fmt::format("n0: {} in {} {}, all below memtrace's threshold ({:.2f}%)\n",
                           line.merged_bytes,
                           line.merged_count,
                           line.merged_count == 1 ? "place" : "places",
                           100 * kSmallestPart);
        continue;
      }
      const std::vector<Line> children = children_of(line);
      write_node(tree_.nodes()[line.node], children.size(), out);
      waiting.insert(waiting.end(), children.rbegin(), children.rend());
    }
  }

 private:
  // A node, or the sum of small ones.
  struct Line {
    std::size_t node = 0;
    std::size_t depth = 0;
    std::size_t merged_count = 0;
    std::int64_t merged_bytes = 0;
  };

  // Largest first, and behind them the sum of those that are small.
  std::vector<Line> children_of(const Line& parent) const {
    std::vector<Line> children;
    Line merged{.depth = parent.depth + 1};
    for (const auto& [name, child] : tree_.nodes()[parent.node].children) {
      const std::int64_t bytes = tree_.nodes()[child].weight;
      if (static_cast<double>(bytes) >= smallest_) {
        children.push_back({.node = child, .depth = parent.depth + 1});
      } else {
        ++merged.merged_count;
        merged.merged_bytes += bytes;
      }
    }
    std::ranges::stable_sort(children, [this](const Line& left, const Line& right) {
      return tree_.nodes()[left.node].weight > tree_.nodes()[right.node].weight;
    });
    if (merged.merged_count > 0) {
      children.push_back(merged);
    }
    return children;
  }

  void write_node(const StackTree::Node& node, std::size_t children, std::ostream& out) const {
    out << fmt::format("n{}: {} {}\n",
                       children,
                       node.weight,
                       node.step == nullptr
                           ? "(heap allocation functions) malloc/new/new[], --alloc-fns, etc."
                           : massif_place(*node.step, report_));
  }

  const Report& report_;
  StackTree tree_;
  double smallest_ = 0;
};

class MassifRenderer final : public Renderer {
 public:
  explicit MassifRenderer(const RenderOptions& options) : version_(options.version) {}

  void render(const Report& report, std::ostream& out) const override {
    out << "desc: memtrace " << version_
        << "\ncmd: " << visible(report.origin.target.empty() ? report.title : report.origin.target)
        << "\ntime_unit: ms\n";
    const auto profiles = stack_profiles(report);
    if (profiles.empty()) {
      return;
    }
    std::size_t number = 0;
    for (const MassifSnapshot& snapshot : snapshots_of(profiles.front())) {
      write(profiles.front(), snapshot, number++, out);
    }
  }

 private:
  static void write(const StackProfile& profile,
                    const MassifSnapshot& snapshot,
                    std::size_t number,
                    std::ostream& out) {
    constexpr std::uint64_t kMillisecondInNs = 1'000'000;
    out << fmt::format(
        "#-----------\nsnapshot={}\n#-----------\ntime={}\nmem_heap_B={}\nmem_heap_extra_B=0\n"
        "mem_stacks_B=0\nheap_tree={}\n",
        number,
        snapshot.at_ns / kMillisecondInNs,
        snapshot.bytes,
        snapshot.is_peak ? "peak" : (snapshot.kind ? "detailed" : "empty"));
    if (snapshot.kind) {
      MassifTree(profile, *snapshot.kind).write(out);
    }
  }

  std::string version_;
};

}  // namespace

std::unique_ptr<Renderer> make_massif_renderer(const RenderOptions& options) {
  return std::make_unique<MassifRenderer>(options);
}

}  // namespace memtrace
