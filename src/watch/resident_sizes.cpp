#include "watch/resident_sizes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/text.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kNotWorthALine = std::uint64_t{1} << 20;
constexpr std::size_t kMostGrown = 5;

std::string proc_file(const std::string& path) {
  auto text = read_file(path);
  return text.ok() ? text.take() : "";
}

}  // namespace

std::uint64_t resident_bytes(std::uint32_t pid, const std::string& proc) {
  const std::string text = proc_file(proc + "/" + std::to_string(pid) + "/statm");
  const auto words = split(text, ' ');
  return words.size() < 2 ? 0 : parse_number(words[1]).value_or(0) * page_size_bytes();
}

std::vector<ResidentSize> resident_sizes(const std::string& proc) {
  std::vector<ResidentSize> sizes;
  const auto pids = process_ids(proc);
  for (const std::uint32_t pid : pids.ok() ? pids.value() : std::vector<std::uint32_t>()) {
    if (const std::uint64_t bytes = resident_bytes(pid, proc); bytes > 0) {
      sizes.push_back({pid, "", bytes});
    }
  }
  std::ranges::stable_sort(sizes, std::ranges::greater(), &ResidentSize::bytes);
  sizes.resize(std::min(sizes.size(), kMostSizes));
  for (ResidentSize& size : sizes) {
    size.comm = parse_comm(proc_file(proc + "/" + std::to_string(size.pid) + "/comm"));
  }
  return sizes;
}

std::vector<GrownProcess> grown_since(const std::vector<ResidentSize>& before,
                                      const std::vector<ResidentSize>& now) {
  std::vector<GrownProcess> grown;
  for (const ResidentSize& size : now) {
    const auto known = std::ranges::find(before, size.pid, &ResidentSize::pid);
    const std::uint64_t before_bytes = known == before.end() ? 0 : known->bytes;
    if (size.bytes >= before_bytes + kNotWorthALine) {
      grown.push_back({size.pid, size.comm, before_bytes, size.bytes});
    }
  }
  std::ranges::stable_sort(grown, std::ranges::greater(), [](const GrownProcess& process) {
    return process.bytes - process.before_bytes;
  });
  grown.resize(std::min(grown.size(), kMostGrown));
  return grown;
}

}  // namespace memtrace
