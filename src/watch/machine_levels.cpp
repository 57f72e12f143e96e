#include "watch/machine_levels.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

std::string text_of(const std::string& path) {
  auto text = read_file(path);
  return text.ok() ? text.take() : "";
}

// "pswpin 12"
std::optional<std::uint64_t> swapped_in(std::string_view vmstat) {
  constexpr std::string_view kName = "pswpin ";
  for (const std::string_view line : split(vmstat, '\n')) {
    if (line.starts_with(kName)) {
      return parse_number(line.substr(kName.size()));
    }
  }
  return std::nullopt;
}

}  // namespace

MachineLevels read_levels(const std::string& proc) {
  const std::string memory = text_of(proc + "/meminfo");
  return {.swapped_in_pages = swapped_in(text_of(proc + "/vmstat")),
          .available_bytes = available_bytes(memory),
          .total_bytes = proc_bytes(memory, "MemTotal")};
}

// "some avg10=12.34 avg60=3.10 avg300=0.64 total=1234567"
std::string pressure_words(const std::string& proc) {
  constexpr std::string_view kSome = "some avg10=";
  const std::string text = text_of(proc + "/pressure/memory");
  if (!text.starts_with(kSome)) {
    return "";
  }
  const std::string share = text.substr(kSome.size(), text.find(' ', kSome.size()) - kSome.size());
  return share == "0.00" ? "" : "some task waited for memory for " + share + " % of the last 10 s";
}

}  // namespace memtrace
