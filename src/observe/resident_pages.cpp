#include "observe/resident_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "os/foreign_file.h"
#include "os/mapping.h"
#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

// Entries of pagemap: bit 63 says that the page is there, bits 0 to 54 are its frame, which only
// root sees (0 for others, since Linux 4.2).
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63U;
constexpr std::uint64_t kFrame = (std::uint64_t{1} << 55U) - 1;
constexpr std::size_t kEntriesAtOnce = 16'384;

struct ResidentMapping {
  std::uint64_t first = 0;  // numbers of pages
  std::uint64_t limit = 0;
};

struct Sizes {
  std::uint64_t rss_bytes = 0;
  std::uint64_t swap_bytes = 0;
  std::vector<ResidentMapping> mappings;  // with resident pages
  ResidentSnapshot::Parts parts;
};

// "Rss:    12 kB"
std::uint64_t kilobytes_in(std::string_view line) {
  const auto words = proc_words(line);
  return words.size() < 2 ? 0 : parse_number(words[1]).value_or(0) * 1024;
}

// Reads the lines of one smaps.
class SmapsReader {
 public:
  Sizes read(std::string_view smaps) {
    for (const std::string_view line : split(smaps, '\n')) {
      if (const auto start = parse_maps_line(line)) {
        range_ = {start->start / page_size_bytes(), start->limit / page_size_bytes()};
        name_ = mapping_name(start->path);
      } else {
        add(line);
      }
    }
    return std::move(sizes_);
  }

 private:
  void add(std::string_view line) {
    if (line.starts_with("Rss:")) {
      add_rss(kilobytes_in(line));
    } else if (line.starts_with("Swap:")) {
      const std::uint64_t bytes = kilobytes_in(line);
      sizes_.swap_bytes += bytes;
      if (bytes > 0) {
        sizes_.parts.mappings[std::string(name_)].swap_bytes += bytes;
      }
    } else if (line.starts_with("Pss:")) {
      sizes_.parts.pss_bytes += kilobytes_in(line);
    } else if (line.starts_with("Anonymous:")) {
      sizes_.parts.anonymous_bytes += kilobytes_in(line);
    }
  }

  void add_rss(std::uint64_t bytes) {
    sizes_.rss_bytes += bytes;
    if (bytes > 0) {
      sizes_.mappings.push_back(range_);
      sizes_.parts.mappings[std::string(name_)].rss_bytes += bytes;
    }
  }

  Sizes sizes_;
  ResidentMapping range_;
  std::string_view name_;
};

// "RssShmem:     12 kB" of /proc/PID/status.
std::uint64_t bytes_at(std::string_view status, std::string_view key) {
  return proc_bytes(status, key).value_or(0);
}

// The frame of the page of zeros, which reads of untouched memory map: it is present and not part
// of the resident size. 0 where frames are not shown.
std::uint64_t zero_frame() {
  const auto size = static_cast<std::size_t>(page_size_bytes());
  const auto page =
      Mapping::map({.size_bytes = size, .prot = PROT_READ, .flags = MAP_PRIVATE | MAP_ANONYMOUS});
  if (!page.ok()) {
    return 0;
  }
  const volatile std::byte* const first = page.value().bytes().data();
  (void)*first;
  const auto own = open_foreign_file("/proc/self/pagemap");
  std::uint64_t entry = 0;
  const auto number = reinterpret_cast<std::uintptr_t>(page.value().bytes().data()) / size;
  if (!own.ok() ||
      !read_at(own.value().fd, std::as_writable_bytes(std::span(&entry, 1)), number * sizeof(entry))
           .ok()) {
    return 0;
  }
  return entry & kFrame;
}

// `entries` are of the pages from `first` on.
void add_present(std::span<const std::uint64_t> entries,
                 std::uint64_t first,
                 std::uint64_t zeros,
                 ResidentSnapshot& snapshot) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool is_zero_page = zeros != 0 && (entries[i] & kFrame) == zeros;
    if ((entries[i] & kPresent) != 0 && !is_zero_page) {
      snapshot.add_page(first + i);
    }
  }
}

// Adds the pages of the mapping. False: they could not be read.
bool add_pages(const UniqueFd& pagemap,
               const ResidentMapping& mapping,
               std::uint64_t zeros,
               ResidentSnapshot& snapshot) {
  std::array<std::uint64_t, kEntriesAtOnce> entries{};
  for (std::uint64_t page = mapping.first; page < mapping.limit;) {
    const std::size_t wanted = std::min<std::uint64_t>(mapping.limit - page, entries.size());
    const auto read = read_at(pagemap,
                              std::as_writable_bytes(std::span(entries).first(wanted)),
                              page * sizeof(std::uint64_t));
    const std::size_t got = read.ok() ? read.value() / sizeof(std::uint64_t) : 0;
    add_present(std::span(entries).first(got), page, zeros, snapshot);
    if (got == 0 || snapshot.runs.size() > ResidentPages::kMaxRuns) {
      return false;
    }
    page += got;
  }
  return true;
}

}  // namespace

void ResidentPages::begin(const std::set<std::uint32_t>& pids) {
  has_begun_ = true;
  zero_frame_ = zero_frame();
  pids_.insert(pids.begin(), pids.end());
}

void ResidentPages::read_ahead() {
  std::uint64_t pages_left = kMaxPages;
  for (const std::uint32_t pid : pids_) {
    if (const auto snapshot = read_process(pid, pages_left)) {
      ahead_[pid] = facts_of(*snapshot);
    }
  }
}

Observation ResidentPages::read(std::string_view reader) {
  Observation observation{.reader = std::string(reader)};
  std::uint64_t pages_left = kMaxPages;
  for (auto pid = pids_.begin(); pid != pids_.end();) {
    if (!path_exists(proc_ + "/" + std::to_string(*pid))) {
      pid = pids_.erase(pid);
      continue;
    }
    if (auto known = ahead_.extract(*pid)) {
      observation.rows.push_back(std::move(known.mapped()));
    } else if (const auto snapshot = read_process(*pid, pages_left)) {
      observation.rows.push_back(facts_of(*snapshot));
    }
    ++pid;
  }
  ahead_.clear();
  last_ = 0;
  return observation;
}

std::optional<ResidentSnapshot> ResidentPages::read_process(std::uint32_t pid,
                                                            std::uint64_t& pages_left) const {
  if (pages_left == 0) {
    return std::nullopt;  // to make smaps, the kernel walks all page tables
  }
  const std::string folder = proc_ + "/" + std::to_string(pid) + "/";
  const std::uint64_t from_ns = monotonic_ns();
  const auto smaps = read_file(folder + "smaps");
  const std::uint64_t to_ns = monotonic_ns();
  const auto status = read_file(folder + "status");
  const auto pagemap = open_foreign_file(folder + "pagemap");
  const auto comm = read_file(folder + "comm");
  if (!smaps.ok() || smaps.value().empty() || !pagemap.ok() || !comm.ok()) {
    return std::nullopt;
  }
  Sizes sizes = SmapsReader().read(smaps.value());
  ResidentSnapshot snapshot{.pid = pid,
                            .comm = std::string(parse_comm(comm.value())),
                            .rss_bytes = sizes.rss_bytes,
                            .swap_bytes = sizes.swap_bytes,
                            .parts = std::move(sizes.parts)};
  snapshot.parts.read_from_ns = from_ns;
  snapshot.parts.read_to_ns = to_ns;
  if (status.ok()) {
    snapshot.parts.shared_memory_bytes = bytes_at(status.value(), "RssShmem");
    snapshot.parts.page_table_bytes = bytes_at(status.value(), "VmPTE");
  }
  for (const ResidentMapping& mapping : sizes.mappings) {
    const std::uint64_t pages = mapping.limit - mapping.first;
    pages_left = pages > pages_left ? 0 : pages_left;
    if (pages_left == 0 || !add_pages(pagemap.value().fd, mapping, zero_frame_, snapshot)) {
      return std::nullopt;
    }
    pages_left -= pages;
  }
  return snapshot;
}

}  // namespace memtrace
