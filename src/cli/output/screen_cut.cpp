#include "cli/output/screen_cut.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "render/text_line.h"

namespace memtrace {
namespace {

// The last paragraph: what is missing in the report.
std::size_t caveat_lines_of(const std::vector<std::string_view>& lines) {
  const auto blank = std::find(lines.rbegin(), lines.rend(), "");
  return static_cast<std::size_t>(blank - lines.rbegin());
}

// Columns that the line takes: colours (ECMA-48, SGR) take none.
std::size_t columns_of(std::string_view line) {
  constexpr std::string_view kColour = "\x1b[";
  std::size_t columns = 0;
  while (!line.empty()) {
    const std::size_t begin = std::min(line.find(kColour), line.size());
    columns += width_of(line.substr(0, begin));
    const std::size_t end = line.find('m', begin);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return columns;
}

std::size_t rows_of(std::string_view line, const Screen& screen) {
  const std::size_t width = columns_of(line);
  return screen.columns == 0 || width == 0 ? 1 : (width + screen.columns - 1) / screen.columns;
}

// How many of these lines fit into as many rows.
std::size_t fitting(std::span<const std::string_view> lines,
                    std::size_t rows,
                    const Screen& screen) {
  std::size_t count = 0;
  for (const std::string_view line : lines) {
    const std::size_t needed = rows_of(line, screen);
    if (needed > rows) {
      break;
    }
    rows -= needed;
    ++count;
  }
  return count;
}

std::size_t total_rows(std::span<const std::string_view> lines, const Screen& screen) {
  std::size_t rows = 0;
  for (const std::string_view line : lines) {
    rows += rows_of(line, screen);
  }
  return rows;
}

std::string left_out_line(std::size_t count) {
  return "(" + counted(count, "more line", "more lines") + ": --top N shows fewer rows)";
}

std::string joined_lines(std::span<const std::string_view> lines) {
  std::string text;
  for (const std::string_view line : lines) {
    text += std::string(line) + '\n';
  }
  return text;
}

}  // namespace

std::string cut_to_screen(std::string_view text, const Screen& screen) {
  if (text.ends_with('\n')) {
    text.remove_suffix(1);
  }
  const std::vector<std::string_view> split_lines = split(text, '\n');
  const std::span<const std::string_view> lines(split_lines);
  if (screen.rows == 0 || total_rows(lines, screen) <= screen.rows) {
    return joined_lines(lines);
  }
  const std::size_t first_caveat = lines.size() - caveat_lines_of(split_lines);
  const auto caveats = lines.subspan(first_caveat);
  const auto kept = caveats.first(fitting(caveats, screen.rows / 2, screen));
  const std::size_t taken = total_rows(kept, screen) + rows_of(left_out_line(lines.size()), screen);
  const auto head = lines.first(
      fitting(lines.first(first_caveat), screen.rows - std::min(screen.rows, taken), screen));
  return joined_lines(head) + left_out_line(lines.size() - head.size() - kept.size()) + '\n' +
         joined_lines(kept);
}

}  // namespace memtrace
