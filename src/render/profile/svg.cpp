// A flame graph as one SVG picture, for mail and tickets: no script, nothing from elsewhere. Frames
// are as wide as the main cost of their stacks; the root is at the bottom; a title shows on hover.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "base/visible.h"
#include "render/caveats.h"
#include "render/cell_text.h"
#include "render/moments.h"
#include "render/profile/profile_formats.h"
#include "render/profile/stack_tree.h"
#include "render/text_line.h"

namespace memtrace {
namespace {

// Pixels of the picture at its natural size.
constexpr double kPictureWidth = 1200;
constexpr double kMargin = 10;
constexpr double kRowHeight = 16;
constexpr double kHeadHeight = 62;
constexpr double kDigitWidth = 6.7;  // of a monospace font of 11 px
constexpr std::size_t kLineColumns = 175;
// Below this part of the whole a frame is narrower than about a pixel.
constexpr double kSmallestShare = 0.001;

// Text for XML 1.0, which lacks U+FFFE and U+FFFF besides the characters that visible() shows.
std::string xml(std::string_view text) {
  constexpr std::string_view kNoCharacterBegins = "\xef\xbf";
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view three = text.substr(i, 3);
    if (three.size() == 3 && three.starts_with(kNoCharacterBegins) &&
        (three[2] == '\xbe' || three[2] == '\xbf')) {
      escaped += "?";
      i += 2;
      continue;
    }
    switch (text[i]) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += text[i];
    }
  }
  return escaped;
}

struct Paint {
  std::string_view name;  // of the class of rectangles
  std::string_view legend;
  int hue;
  int saturation;
};

// In the order of CodeKind.
constexpr auto kPaints = std::to_array<Paint>({{"n", "other", 0, 0},
                                               {"p", "program", 48, 90},
                                               {"l", "library", 195, 65},
                                               {"k", "kernel", 18, 85}});

// Neighbours differ a little: by their names, so that one function looks alike in all pictures.
std::size_t shade_of(std::string_view name) {
  constexpr std::size_t kShades = 4;
  std::size_t sum = 0;
  for (const char character : name) {
    sum = sum * 31 + static_cast<unsigned char>(character);
  }
  return sum % kShades;
}

std::string style() {
  constexpr int kShades = 4;
  std::string rules = "text{font:11px monospace;fill:#111}.h{font-size:15px}";
  for (const Paint& paint : kPaints) {
    for (int shade = 0; shade < kShades; ++shade) {
      rules += fmt::format(".{}{}{{fill:hsl({},{}%,{}%)}}",
                           paint.name,
                           shade,
                           paint.hue,
                           paint.saturation,
                           paint.saturation == 0 ? 84 - 3 * shade : 60 + 5 * shade);
    }
  }
  return rules + "rect{stroke:#fff;stroke-width:.5}";
}

std::string share_text(std::int64_t weight, std::int64_t whole) {
  return fmt::format(
      "{:.2f} %",
      whole == 0 ? 0.0 : 100.0 * static_cast<double>(weight) / static_cast<double>(whole));
}

// Where a node of the tree is drawn.
struct FrameBox {
  std::size_t node = 0;
  std::size_t depth = 0;
  double left = 0;  // in units of weight
};

class FlameGraph {
 public:
  FlameGraph(const StackProfile& profile, std::string_view version)
      : profile_(profile),
        kind_(profile.kinds[profile.main_kind]),
        tree_(profile, profile.main_kind, StackTree::Direction::FromOutermost),
        whole_(tree_.root().weight) {
    place();
    notes_ = notes(version);
  }

  void write(std::ostream& out) const {
    const double rows_height = static_cast<double>(deepest_ + 1) * kRowHeight;
    const double height =
        kHeadHeight + rows_height + kMargin + static_cast<double>(notes_.size()) * kRowHeight;
    out << fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\">\n<style>{2}</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
        kPictureWidth,
        height,
        style());
    write_head(out);
    for (const FrameBox& place : places_) {
      write_frame(place, out);
    }
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      write_text(kMargin,
                 kHeadHeight + rows_height + static_cast<double>(i + 1) * kRowHeight,
                 notes_[i],
                 out);
    }
    out << "</svg>\n";
  }

 private:
  // Children stand in the order of their names, and the narrow ones are left out.
  void place() {
    const double smallest = static_cast<double>(whole_) * kSmallestShare;
    std::vector<FrameBox> waiting = {{}};
    while (!waiting.empty()) {
      const FrameBox here = waiting.back();
      waiting.pop_back();
      places_.push_back(here);
      deepest_ = std::max(deepest_, here.depth);
      add_children(here, smallest, waiting);
    }
  }

  void add_children(const FrameBox& parent, double smallest, std::vector<FrameBox>& waiting) const {
    double left = parent.left;
    for (const auto& [name, child] : tree_.nodes()[parent.node].children) {
      const auto weight = static_cast<double>(tree_.nodes()[child].weight);
      if (weight >= smallest) {
        waiting.push_back({child, parent.depth + 1, left});
      }
      left += weight;
    }
  }

  std::vector<std::string> notes(std::string_view version) const {
    std::vector<std::string> lines;
    const std::size_t left_out = tree_.nodes().size() - places_.size();
    lines.push_back(left_out == 0 ? "All frames are drawn."
                                  : counted(left_out, "frame", "frames") + " below 0.1 % of " +
                                        visible(kind_.name) + (left_out == 1 ? " is" : " are") +
                                        " not drawn.");
    for (const std::string& caveat : caveat_lines(profile_.report->caveats)) {
      for (const std::string& line : wrap(visible(caveat), kLineColumns, 2)) {
        lines.push_back(line);
      }
    }
    lines.push_back("memtrace " + std::string(version));
    return lines;
  }

  static void write_text(double left, double top, std::string_view text, std::ostream& out) {
    out << fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", left, top, xml(text));
  }

  void write_head(std::ostream& out) const {
    const Report& report = *profile_.report;
    std::string facts = visible(kind_.name) + " " + figure(whole_);
    if (const std::string span = span_text(report); !span.empty()) {
      facts += ", " + span;
    }
    if (!report.origin.host.empty()) {
      facts += ", " + visible(report.origin.host);
    }
    out << fmt::format(
        R"(<text class="h" x="{}" y="20">{}</text>)", kMargin, xml(profile_title(profile_)));
    out << '\n';
    write_text(kMargin, 38, facts, out);
    double left = kMargin;
    for (const Paint& paint : kPaints) {
      out << fmt::format(
          R"(<rect class="{}1" x="{:.1f}" y="45" width="11" height="11"/>)", paint.name, left);
      write_text(left + 15, 54, paint.legend, out);
      left += 15 + kDigitWidth * static_cast<double>(paint.legend.size() + 2);
    }
  }

  void write_frame(const FrameBox& place, std::ostream& out) const {
    const StackTree::Node& node = tree_.nodes()[place.node];
    const double scale =
        whole_ == 0 ? 0 : (kPictureWidth - 2 * kMargin) / static_cast<double>(whole_);
    const double left = kMargin + place.left * scale;
    const double width =
        whole_ == 0 ? kPictureWidth - 2 * kMargin : static_cast<double>(node.weight) * scale;
    const double top = kHeadHeight + static_cast<double>(deepest_ - place.depth) * kRowHeight;
    const std::string name = node.step == nullptr ? "all" : node.step->name;
    const auto kind =
        static_cast<std::size_t>(node.step == nullptr ? CodeKind::None : code_kind(*node.step));
    out << fmt::format(R"(<g><title>{}: {}, {}{}</title><rect class="{}{}" x="{:.1f}" y="{:.0f}" )"
                       R"(width="{:.1f}" height="{}"/>)",
                       xml(name),
                       figure(node.weight),
                       share_text(node.weight, whole_),
                       xml(module_of(node)),
                       kPaints[kind].name,
                       shade_of(name),
                       left,
                       top,
                       width,
                       kRowHeight - 1);
    write_name(name, left, top, width, out);
    out << "</g>\n";
  }

  static void write_name(
      const std::string& name, double left, double top, double width, std::ostream& out) {
    constexpr double kPadding = 3;
    constexpr std::size_t kFewestDigits = 4;
    const auto columns = static_cast<std::size_t>(std::max(0.0, width - kPadding) / kDigitWidth);
    if (columns >= kFewestDigits) {
      out << fmt::format(R"(<text x="{:.1f}" y="{:.0f}">{}</text>)",
                         left + kPadding,
                         top + kRowHeight - 5,
                         xml(cut_end(name, columns)));
    }
  }

  static std::string module_of(const StackTree::Node& node) {
    const bool has_module =
        node.step != nullptr && node.step->frame != nullptr && !node.step->frame->module.empty();
    return has_module ? " in " + visible(node.step->frame->module) : "";
  }

  std::string figure(std::int64_t weight) const {
    return print_figure(kind_.unit, static_cast<std::uint64_t>(weight));
  }

  const StackProfile& profile_;
  const WeightKind& kind_;
  StackTree tree_;
  std::int64_t whole_ = 0;
  std::vector<FrameBox> places_;
  std::size_t deepest_ = 0;
  std::vector<std::string> notes_;
};

class SvgRenderer final : public Renderer {
 public:
  explicit SvgRenderer(const RenderOptions& options) : version_(options.version) {}

  // An overview is its first report: costs of different kinds have no common width.
  void render(const Report& report, std::ostream& out) const override {
    auto profiles = stack_profiles(report);
    if (profiles.empty()) {
      profiles.push_back({.report = &report, .kinds = {{"count", Unit::Count}}});
    }
    FlameGraph(profiles.front(), version_).write(out);
  }

 private:
  std::string version_;
};

}  // namespace

std::unique_ptr<Renderer> make_svg_renderer(const RenderOptions& options) {
  return std::make_unique<SvgRenderer>(options);
}

}  // namespace memtrace
