// Folded stacks for flame graph tools, one line a row: "comm;outermost;...;innermost VALUE", where
// VALUE is the main cost. Kernel frames end in _[k] and inlined ones in _[i], by which
// flamegraph.pl colours them. Nothing else is written: caveats would be taken for stacks.
#include <algorithm>
#include <string>

#include "base/visible.h"
#include "render/profile/profile_formats.h"
#include "render/profile/stack_profile.h"

namespace memtrace {
namespace {

void add_folded(std::string& line, const ProfileStep& step) {
  line += line.empty() ? "" : ";";
  std::string shown = step.name;
  std::replace(shown.begin(), shown.end(), ';', ':');
  line += shown;
  if (step.frame != nullptr) {
    line += step.frame->kernel ? "_[k]" : (step.frame->inlined ? "_[i]" : "");
  }
}

class FoldedRenderer final : public Renderer {
 public:
  // The reports of an overview become towers of their own, each on a frame with its view's name.
  void render(const Report& report, std::ostream& out) const override {
    for (const StackProfile& profile : stack_profiles(report)) {
      const std::string prefix =
          profile.report == &report ? "" : visible(profile.report->view) + ";";
      for (const WeightedStack& stack : profile.stacks) {
        write(stack, stack.weights[profile.main_kind], prefix, out);
      }
    }
  }

 private:
  static void write(const WeightedStack& stack,
                    std::int64_t weight,
                    const std::string& prefix,
                    std::ostream& out) {
    if (weight <= 0) {
      return;
    }
    std::string line;
    for (const ProfileStep& step : stack.steps) {
      add_folded(line, step);
    }
    out << prefix << line << ' ' << weight << '\n';
  }
};

}  // namespace

std::unique_ptr<Renderer> make_folded_renderer(const RenderOptions&) {
  return std::make_unique<FoldedRenderer>();
}

}  // namespace memtrace
