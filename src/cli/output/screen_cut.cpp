#include "cli/output/screen_cut.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"

namespace memtrace {
namespace {

// The last paragraph: what is missing in the report.
std::size_t caveat_lines_of(const std::vector<std::string_view>& lines) {
  const auto blank = std::find(lines.rbegin(), lines.rend(), "");
  return static_cast<std::size_t>(blank - lines.rbegin());
}

}  // namespace

std::string cut_to_screen(std::string_view text, std::size_t rows) {
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  const std::vector<std::string_view> lines = split(text, '\n');
  const std::size_t first_caveat = lines.size() - caveat_lines_of(lines);
  const std::size_t caveats = std::min(lines.size() - first_caveat, rows / 2);
  const bool fits = rows == 0 || lines.size() <= rows;
  const std::size_t head = fits ? lines.size() : rows - caveats - 1;
  std::string shown;
  for (std::size_t i = 0; i < head; ++i) {
    shown += std::string(lines[i]) + '\n';
  }
  if (fits) {
    return shown;
  }
  shown += "(" + counted(lines.size() - head - caveats, "more line", "more lines") +
           ": --top N shows fewer rows)\n";
  for (std::size_t i = first_caveat; i < first_caveat + caveats; ++i) {
    shown += std::string(lines[i]) + '\n';
  }
  return shown;
}

}  // namespace memtrace
