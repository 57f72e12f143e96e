#include "views/mapping/memory_limits.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/text.h"
#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

constexpr auto kProcessColumns = std::to_array<LimitColumn>({
    {"vm_size"},
    {"rlimit_as"},
    {"vm_data"},
    {"rlimit_data"},
    {"mappings", Unit::Count},
    {"max_map_count", Unit::Count},
});
constexpr auto kMachineColumns = std::to_array<LimitColumn>({
    {"committed"},
    {"commit_limit"},
    {"overcommit_memory", Unit::Number},
    {"available"},
    {"cgroup_usage"},
    {"cgroup_limit"},
});

// Private memory that may be written: what RLIMIT_DATA (since 4.7) and the commitment count
// (mm/mmap.c, is_data_mapping and accountable_mapping).
bool takes_data(const SystemCallDone& done) {
  constexpr std::uint64_t kShared = kMapShared;
  switch (done.call) {
    case SystemCall::Mmap:
      return (done.arguments[2] & kProtectWrite) != 0 && (done.arguments[3] & kShared) == 0;
    case SystemCall::Mprotect:
    case SystemCall::PkeyMprotect:
      return (done.arguments[2] & kProtectWrite) != 0;
    case SystemCall::Brk:
    case SystemCall::Mremap:
      return true;
    default:
      return false;
  }
}

bool takes_address_space(SystemCall call) {
  return call == SystemCall::Mmap || call == SystemCall::Mremap || call == SystemCall::Brk;
}

bool is_fork(SystemCall call) {
  return call == SystemCall::Clone || call == SystemCall::Clone3 || call == SystemCall::Fork ||
         call == SystemCall::Vfork;
}

class Evidence {
 public:
  Evidence(const SystemCallDone& done, const Facts& facts)
      : done_(done), facts_(facts), bytes_(asked_bytes(done).value_or(0)) {}

  std::vector<std::string> exceeded() const {
    std::vector<std::string> names;
    const auto add = [&names](bool is_exceeded, const char* name) {
      if (is_exceeded) {
        names.emplace_back(name);
      }
    };
    const bool data = takes_data(done_);
    const bool address_space = takes_address_space(done_.call);
    add(address_space && passes("vm_size", bytes_, "rlimit_as"), "RLIMIT_AS");
    add(data && passes("vm_data", bytes_, "rlimit_data"), "RLIMIT_DATA");
    add(locks() && passes("vm_locked", bytes_, "rlimit_memlock"), "RLIMIT_MEMLOCK");
    add(!is_fork(done_.call) && reaches("mappings", "max_map_count"), "max_map_count");
    add(takes_huge_pages() && bytes_ > huge_bytes_free(), "hugetlb pool");
    add(is_overcommitted(), "overcommit");
    add(done_.call == SystemCall::Shmget && reaches("segments", "shmmni"), "shmmni");
    add(is_fork(done_.call) && reaches("pids", "pids_limit"), "pids cgroup");
    add(is_fork(done_.call) && is_cgroup_full(), "memory cgroup");
    return names;
  }

 private:
  bool passes(std::string_view used, std::uint64_t more, std::string_view limit) const {
    const std::uint64_t* now = facts_.number(used);
    const std::uint64_t* most = facts_.number(limit);
    // More than the limit itself is too much, however much there was.
    return most != nullptr && (more > *most || (now != nullptr && *now > *most - more));
  }

  bool reaches(std::string_view used, std::string_view limit) const {
    return passes(used, 1, limit);
  }

  bool locks() const {
    constexpr std::uint64_t kLocked = 0x2000;
    return done_.error() == EAGAIN && !is_fork(done_.call) &&
           (done_.call != SystemCall::Mmap || (done_.arguments[3] & kLocked) != 0);
  }

  // Documentation/mm/overcommit-accounting: 2 never passes the limit; 0, the heuristic, refuses one
  // call for more than all memory and swap (mm/util.c, __vm_enough_memory, since 5.2).
  bool is_overcommitted() const {
    const std::uint64_t* mode = facts_.number("overcommit_memory");
    const bool is_counted = takes_data(done_) || done_.call == SystemCall::Shmget;
    if (mode == nullptr || !is_counted) {
      return false;
    }
    if (*mode == 2) {
      return passes("committed", bytes_, "commit_limit");
    }
    const std::uint64_t* memory = facts_.number("total");
    const std::uint64_t* swap = facts_.number("swap_total");
    return *mode == 0 && memory != nullptr && swap != nullptr && bytes_ > *memory + *swap;
  }

  // mmap(2) and shmget(2) of huge pages of the usual size: those of others have pools of their own,
  // which are not read.
  bool takes_huge_pages() const {
    constexpr std::uint64_t kMapHugetlb = 0x40000;
    constexpr std::uint64_t kShmHugetlb = 04000;
    constexpr unsigned kSizeShift = 26;  // MAP_HUGE_SHIFT, SHM_HUGE_SHIFT; 0: the usual size
    constexpr std::uint64_t kSizeMask = 0x3f;
    const bool is_mmap = done_.call == SystemCall::Mmap;
    if (!is_mmap && done_.call != SystemCall::Shmget) {
      return false;
    }
    const std::uint64_t flags = done_.arguments[is_mmap ? 3 : 2];
    const std::uint64_t* size = facts_.number("huge_page");
    const std::uint64_t asked = (flags >> kSizeShift) & kSizeMask;
    return (flags & (is_mmap ? kMapHugetlb : kShmHugetlb)) != 0 && size != nullptr &&
           facts_.number("huge_free") != nullptr &&
           (asked == 0 || std::uint64_t{1} << asked == *size);
  }

  // Documentation/admin-guide/mm/hugetlbpage.rst: reserved ones are promised to others, and surplus
  // ones are made when they are needed.
  std::uint64_t huge_bytes_free() const {
    const auto number = [this](std::string_view name) {
      const std::uint64_t* value = facts_.number(name);
      return value == nullptr ? 0 : *value;
    };
    const std::uint64_t free = number("huge_free");
    const std::uint64_t more = number("huge_overcommit");
    return (free - std::min(free, number("huge_reserved")) + more -
            std::min(more, number("huge_surplus"))) *
           number("huge_page");
  }

  bool is_cgroup_full() const {
    constexpr std::uint64_t kNearlyPart = 100;
    const std::uint64_t* limit = facts_.number("cgroup_limit");
    return limit != nullptr && passes("cgroup_usage", *limit / kNearlyPart, "cgroup_limit");
  }

  const SystemCallDone& done_;
  const Facts& facts_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::span<const LimitColumn> process_limit_columns() {
  return kProcessColumns;
}

std::span<const LimitColumn> machine_limit_columns() {
  return kMachineColumns;
}

bool has_process_limits(const Observation& limits) {
  return limits.facts.number("rlimit_as") != nullptr || limits.facts.text("rlimit_as") != nullptr;
}

std::optional<std::uint64_t> asked_bytes(const SystemCallDone& done) {
  const SystemCallArguments& argument = done.arguments;
  switch (done.call) {
    case SystemCall::Mmap:
    case SystemCall::Mprotect:
    case SystemCall::PkeyMprotect:
    case SystemCall::Shmget:
      return argument[1];
    case SystemCall::Mremap:
      return argument[2] - std::min(argument[1], argument[2]);
    case SystemCall::Brk:
      return argument[0] - std::min(argument[0], static_cast<std::uint64_t>(done.result));
    default:
      return std::nullopt;
  }
}

std::string exceeded_limits(const SystemCallDone& done, const Observation& limits) {
  return join(Evidence(done, limits.facts).exceeded(), ", ");
}

}  // namespace memtrace
