#include "cli/options/overhead_option.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace memtrace {
namespace {

std::optional<double> parse_percent(std::string_view text) {
  if (text.ends_with('%')) {
    text.remove_suffix(1);
  }
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(percent) : std::nullopt;
}

}  // namespace

Result<double> read_max_overhead(const ParsedOptions& parsed) {
  if (!parsed.has("max-overhead")) {
    return 0.0;
  }
  if (parsed.has("period")) {
    return Error{"--max-overhead and --period",
                 0,
                 "give one of them: --max-overhead chooses the periods",
                 ErrorKind::Usage};
  }
  constexpr double kPercent = 100;
  const auto percent = parse_percent(parsed.text("max-overhead"));
  if (!percent || !(*percent > 0 && *percent <= kPercent)) {
    return Error{"--max-overhead " + parsed.text("max-overhead"),
                 0,
                 "takes a part of the programs' CPU time, above 0 and up to 100 percent: 3%",
                 ErrorKind::Usage};
  }
  return *percent / kPercent;
}

}  // namespace memtrace
