#include "os/kallsyms.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace memtrace {

std::optional<KallsymsLine> parse_kallsyms_line(std::string_view line) {
  constexpr int kHex = 16;
  KallsymsLine parsed;
  const char* const end = line.data() + line.size();
  const auto [after, failure] = std::from_chars(line.data(), end, parsed.address, kHex);
  if (failure != std::errc() || end - after < 4 || after[0] != ' ' || after[2] != ' ') {
    return std::nullopt;
  }
  parsed.type = after[1];
  const std::string_view rest(after + 3, static_cast<std::size_t>(end - after - 3));
  parsed.name = rest.substr(0, rest.find_first_of("\t "));
  const std::size_t bracket = rest.find('[', parsed.name.size());
  parsed.module = bracket == std::string_view::npos ? std::string_view() : rest.substr(bracket);
  return parsed;
}

// The text has some 200,000 lines: only those with the name in them are taken apart.
std::optional<KallsymsLine> find_kallsyms_line(std::string_view kallsyms, std::string_view name) {
  for (std::size_t at = 0;
       !name.empty() && (at = kallsyms.find(name, at)) != std::string_view::npos;) {
    const std::size_t begin = at == 0 ? 0 : kallsyms.rfind('\n', at) + 1;  // npos + 1 is 0
    const std::size_t end = std::min(kallsyms.find('\n', at), kallsyms.size());
    const auto line = parse_kallsyms_line(kallsyms.substr(begin, end - begin));
    if (line && line->name == name) {
      return line;
    }
    at = end;
  }
  return std::nullopt;
}

}  // namespace memtrace
