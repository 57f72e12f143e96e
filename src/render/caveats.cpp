#include "render/caveats.h"

#include <array>

#include "base/units.h"

namespace memtrace {
namespace {

std::string lost_line(const Caveats& caveats) {
  if (caveats.missing() == 0) {
    return "Lost: none.";
  }

  struct Part {
    const char* name;
    std::uint64_t count;
  };

  const auto parts = std::to_array<Part>({{"kernel ring full", caveats.lost},
                                          {"late", caveats.late},
                                          {"dropped under overload", caveats.overload},
                                          {"malformed", caveats.malformed},
                                          {"no room on disk", caveats.disk_full}});
  std::string line;
  for (const Part& part : parts) {
    if (part.count != 0) {
      line += line.empty() ? "" : ", ";
      line += std::string(part.name) + " " + print_count(part.count);
    }
  }
  return "Lost: " + counted(caveats.missing(), "event", "events") + " (" + line + ").";
}

std::string unmatched_line(const Caveats& caveats) {
  if (!caveats.unmatched_why.empty()) {
    return counted(caveats.unmatched, "free of a block that was ", "frees of blocks that were ") +
           caveats.unmatched_why + ".";
  }
  return counted(caveats.unmatched,
                 "free of a block that was allocated before the recording.",
                 "frees of blocks that were allocated before the recording.");
}

}  // namespace

std::vector<std::string> caveat_lines(const Caveats& caveats) {
  std::vector<std::string> lines = {lost_line(caveats)};
  if (caveats.cut != 0) {
    lines.push_back("Cut short under overload: " + counted(caveats.cut, "stack.", "stacks."));
  }
  if (caveats.unmatched != 0) {
    lines.push_back("Unmatched: " + unmatched_line(caveats));
  }
  for (const std::string& note : caveats.notes) {
    lines.push_back("Note: " + note);
  }
  return lines;
}

}  // namespace memtrace
