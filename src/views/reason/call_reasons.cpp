#include "views/reason/call_reasons.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

using Done = SystemCallDone;

// Private memory that may be written: what RLIMIT_DATA (since 4.7) and the commitment count
// (mm/mmap.c, is_data_mapping and accountable_mapping).
bool takes_data(const Done& done) {
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

bool takes_address_space(const Done& done) {
  return done.call == SystemCall::Mmap || done.call == SystemCall::Mremap ||
         done.call == SystemCall::Brk;
}

bool is_fork(const Done& done) {
  return done.call == SystemCall::Clone || done.call == SystemCall::Clone3 ||
         done.call == SystemCall::Fork || done.call == SystemCall::Vfork;
}

bool makes_mappings(const Done& done) {
  return !is_fork(done);
}

bool makes_segments(const Done& done) {
  return done.call == SystemCall::Shmget;
}

bool locks(const Done& done) {
  constexpr std::uint64_t kLocked = 0x2000;
  return done.error() == EAGAIN && !is_fork(done) &&
         (done.call != SystemCall::Mmap || (done.arguments[3] & kLocked) != 0);
}

// A limit that a figure of the reading may not pass.
struct LimitRule {
  std::string_view code;
  std::string_view name;
  bool (*is_of)(const Done& done);
  std::string_view used;   // facts
  std::string_view limit;  // the same
  Unit unit;               // Count: a call asks for one
  const char* what;        // "RLIMIT_AS allows 64.0 MiB of address space"
  const char* change;      // {0}: what would have been enough; {1}: the same in KiB
};

constexpr auto kLimitRules = std::to_array<LimitRule>({
    {"rlimit_as",
     "RLIMIT_AS",
     takes_address_space,
     "vm_size",
     "rlimit_as",
     Unit::Bytes,
     "RLIMIT_AS allows {} of address space",
     "raise RLIMIT_AS to {0} or more: ulimit -v {1}, LimitAS= of a unit, prlimit --as"},
    {"rlimit_data",
     "RLIMIT_DATA",
     takes_data,
     "vm_data",
     "rlimit_data",
     Unit::Bytes,
     "RLIMIT_DATA allows {} of private memory that may be written",
     "raise RLIMIT_DATA to {0} or more: ulimit -d {1}, LimitDATA= of a unit, prlimit --data"},
    {"rlimit_memlock",
     "RLIMIT_MEMLOCK",
     locks,
     "vm_locked",
     "rlimit_memlock",
     Unit::Bytes,
     "RLIMIT_MEMLOCK allows {} of locked memory",
     "raise RLIMIT_MEMLOCK to {0} or more: ulimit -l {1}, LimitMEMLOCK= of a unit; or give the "
     "program CAP_IPC_LOCK"},
    {"max_map_count",
     "max_map_count",
     makes_mappings,
     "mappings",
     "max_map_count",
     Unit::Count,
     "vm.max_map_count allows a process {} mappings",
     "sysctl vm.max_map_count={2} or more, or make fewer and larger mappings"},
    {"shmmni",
     "shmmni",
     makes_segments,
     "segments",
     "shmmni",
     Unit::Count,
     "kernel.shmmni allows {} System V segments",
     "sysctl kernel.shmmni={2} or more, or remove segments that are left over: ipcs -m, ipcrm"},
    {"pids_cgroup",
     "pids cgroup",
     is_fork,
     "pids",
     "pids_limit",
     Unit::Count,
     "pids.max of the cgroup allows {} tasks",
     "raise pids.max of the cgroup to {2} or more: TasksMax= of a unit"},
});

class Evidence {
 public:
  Evidence(const Done& done, const Facts& facts)
      : done_(done), facts_(facts), bytes_(asked_bytes(done).value_or(0)) {}

  std::optional<Reason> by_rule(const LimitRule& rule) const;
  std::optional<Reason> hugetlb() const;
  std::optional<Reason> overcommit() const;
  std::optional<Reason> memory_cgroup() const;
  std::optional<Reason> kernel_memory_cgroup() const;

 private:
  std::optional<std::uint64_t> number(std::string_view name) const {
    const std::uint64_t* value = facts_.number(name);
    return value == nullptr ? std::nullopt : std::optional(*value);
  }

  std::optional<Reason> strict_overcommit(Reason reason) const;
  std::optional<Reason> heuristic_overcommit(Reason reason) const;
  std::optional<Reason> full_cgroup(Reason reason, const char* kind, const char* files) const;
  bool takes_huge_pages() const;
  std::uint64_t huge_bytes_free() const;

  const Done& done_;
  const Facts& facts_;
  std::uint64_t bytes_ = 0;
};

// More than the limit itself is too much, however much was in use.
bool is_passed(const Reason& reason) {
  return reason.limit &&
         *reason.asked > *reason.limit - std::min(*reason.limit, reason.used.value_or(0));
}

std::optional<Reason> Evidence::by_rule(const LimitRule& rule) const {
  if (!rule.is_of(done_)) {
    return std::nullopt;
  }
  Reason reason{.code = rule.code,
                .name = rule.name,
                .unit = rule.unit,
                .asked = rule.unit == Unit::Bytes ? bytes_ : 1,
                .used = number(rule.used),
                .limit = number(rule.limit)};
  if (!is_passed(reason) && !(reason.limit && reason.used.value_or(0) > *reason.limit)) {
    return std::nullopt;
  }
  const std::string sum = add_up(reason);
  constexpr std::uint64_t kKiB = 1024;
  const std::uint64_t enough = *reason.limit + *reason.excess;
  reason.sentence =
      fmt::format(fmt::runtime(rule.what), amount(rule.unit, *reason.limit)) + ": " + sum + ".";
  reason.change = fmt::format(
      fmt::runtime(rule.change), amount(rule.unit, enough), (enough + kKiB - 1) / kKiB, enough);
  return reason;
}

// Documentation/mm/overcommit-accounting: 2 never passes the limit; 0, the heuristic, refuses one
// call for more than all memory and swap (mm/util.c, __vm_enough_memory, since 5.2).
std::optional<Reason> Evidence::overcommit() const {
  const auto mode = number("overcommit_memory");
  const bool is_counted = takes_data(done_) || done_.call == SystemCall::Shmget;
  if (!mode || !is_counted) {
    return std::nullopt;
  }
  Reason reason{.code = "overcommit", .name = "overcommit", .asked = bytes_};
  return *mode == 2   ? strict_overcommit(std::move(reason))
         : *mode == 0 ? heuristic_overcommit(std::move(reason))
                      : std::nullopt;
}

std::optional<Reason> Evidence::strict_overcommit(Reason reason) const {
  reason.code = "overcommit_strict";
  reason.used = number("committed");
  reason.limit = number("commit_limit");
  if (!is_passed(reason)) {
    return std::nullopt;
  }
  const std::string sum = add_up(reason);
  reason.sentence = fmt::format(
      "vm.overcommit_memory=2 allows all programs together CommitLimit, {}: Committed_AS, {}.",
      print_bytes(*reason.limit),
      sum);
  reason.change = fmt::format(
      "add {} of swap, raise vm.overcommit_ratio or vm.overcommit_kbytes, or sysctl "
      "vm.overcommit_memory=0",
      print_bytes(*reason.excess));
  return reason;
}

std::optional<Reason> Evidence::heuristic_overcommit(Reason reason) const {
  constexpr std::uint64_t kNoReserve = 0x4000;  // mmap(2): not counted in this mode
  const bool is_not_counted =
      done_.call == SystemCall::Mmap && (done_.arguments[3] & kNoReserve) != 0;
  const auto memory = number("total");
  const auto swap = number("swap_total");
  if (is_not_counted || !memory || !swap || bytes_ <= *memory + *swap) {
    return std::nullopt;
  }
  reason.limit = *memory + *swap;
  reason.excess = bytes_ - *reason.limit;
  reason.sentence = fmt::format(
      "vm.overcommit_memory=0 refuses one request for more than all memory and swap: {} asked for, "
      "MemTotal {} + SwapTotal {} = {}, {} too much.",
      print_bytes(bytes_),
      print_bytes(*memory),
      print_bytes(*swap),
      print_bytes(*reason.limit),
      print_bytes(*reason.excess));
  reason.change = fmt::format(
      "ask for less or with MAP_NORESERVE, add {} of swap, or sysctl vm.overcommit_memory=1",
      print_bytes(*reason.excess));
  return reason;
}

// mmap(2) and shmget(2) of huge pages of the usual size: those of others have pools of their own,
// which are not read.
bool Evidence::takes_huge_pages() const {
  constexpr std::uint64_t kMapHugetlb = 0x40000;
  constexpr std::uint64_t kShmHugetlb = 04000;
  constexpr unsigned kSizeShift = 26;  // MAP_HUGE_SHIFT, SHM_HUGE_SHIFT; 0: the usual size
  constexpr std::uint64_t kSizeMask = 0x3f;
  const bool is_mmap = done_.call == SystemCall::Mmap;
  if (!is_mmap && done_.call != SystemCall::Shmget) {
    return false;
  }
  const std::uint64_t flags = done_.arguments[is_mmap ? 3 : 2];
  const auto size = number("huge_page");
  const std::uint64_t asked = (flags >> kSizeShift) & kSizeMask;
  return (flags & (is_mmap ? kMapHugetlb : kShmHugetlb)) != 0 && size && number("huge_free") &&
         (asked == 0 || std::uint64_t{1} << asked == *size);
}

// Documentation/admin-guide/mm/hugetlbpage.rst: reserved ones are promised to others, and surplus
// ones are made when they are needed.
std::uint64_t Evidence::huge_bytes_free() const {
  const std::uint64_t free = number("huge_free").value_or(0);
  const std::uint64_t more = number("huge_overcommit").value_or(0);
  return (free - std::min(free, number("huge_reserved").value_or(0)) + more -
          std::min(more, number("huge_surplus").value_or(0))) *
         number("huge_page").value_or(0);
}

std::optional<Reason> Evidence::hugetlb() const {
  if (!takes_huge_pages() || bytes_ <= huge_bytes_free()) {
    return std::nullopt;
  }
  const std::uint64_t page = number("huge_page").value_or(1);
  Reason reason{.code = "hugetlb_pool",
                .name = "hugetlb pool",
                .asked = bytes_,
                .limit = huge_bytes_free(),
                .excess = bytes_ - huge_bytes_free()};
  reason.sentence = fmt::format(
      "The pool of huge pages of {} has {} to give ({} free, {} of them reserved): {} asked for "
      "are "
      "{} too much.",
      print_bytes(page),
      print_bytes(*reason.limit),
      print_count(number("huge_free").value_or(0)),
      print_count(number("huge_reserved").value_or(0)),
      print_bytes(bytes_),
      print_bytes(*reason.excess));
  reason.change = fmt::format("raise vm.nr_hugepages or vm.nr_overcommit_hugepages by {}",
                              print_count((*reason.excess + page - 1) / page));
  return reason;
}

// A fork charges the task's structures and its stack to the cgroup: it fails when less than a
// hundredth is left.
std::optional<Reason> Evidence::full_cgroup(Reason reason,
                                            const char* kind,
                                            const char* files) const {
  constexpr std::uint64_t kNearlyPart = 100;
  if (!is_fork(done_) || !reason.limit || !reason.used) {
    return std::nullopt;
  }
  reason.asked = *reason.limit / kNearlyPart;
  if (!is_passed(reason)) {
    return std::nullopt;
  }
  reason.asked.reset();
  const std::string* path = facts_.text("cgroup");
  reason.sentence = fmt::format("The {} of the cgroup {} is full: {} of {} used.",
                                kind,
                                path == nullptr ? "" : *path,
                                print_bytes(*reason.used),
                                print_bytes(*reason.limit));
  reason.change = fmt::format("raise {} of {}, or of a cgroup above it, over {}",
                              files,
                              path == nullptr ? "the cgroup" : *path,
                              print_bytes(*reason.limit));
  return reason;
}

std::optional<Reason> Evidence::memory_cgroup() const {
  return full_cgroup({.code = "memory_cgroup",
                      .name = "memory cgroup",
                      .used = number("cgroup_usage"),
                      .limit = number("cgroup_limit")},
                     "memory",
                     "memory.limit_in_bytes (memory.max in version 2)");
}

std::optional<Reason> Evidence::kernel_memory_cgroup() const {
  return full_cgroup({.code = "kernel_memory_cgroup",
                      .name = "kernel memory cgroup",
                      .used = number("cgroup_kernel_usage"),
                      .limit = number("cgroup_kernel_limit")},
                     "kernel memory",
                     "memory.kmem.limit_in_bytes");
}

std::string limit_text(const Facts& facts, std::string_view name, Unit unit) {
  const std::uint64_t* number = facts.number(name);
  const std::string* text = facts.text(name);
  return number != nullptr ? amount(unit, *number) : text != nullptr ? *text : "unknown";
}

}  // namespace

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

std::vector<Reason> reasons_of(const SystemCallDone& done, const Facts& facts) {
  const Evidence evidence(done, facts);
  std::vector<Reason> reasons;
  const auto add = [&reasons](std::optional<Reason> reason) {
    if (reason) {
      reasons.push_back(std::move(*reason));
    }
  };
  constexpr std::size_t kOfProcess = 4;  // rules before those of the machine
  for (std::size_t i = 0; i < kOfProcess; ++i) {
    add(evidence.by_rule(kLimitRules[i]));
  }
  add(evidence.hugetlb());
  add(evidence.overcommit());
  for (std::size_t i = kOfProcess; i < kLimitRules.size(); ++i) {
    add(evidence.by_rule(kLimitRules[i]));
  }
  add(evidence.memory_cgroup());
  add(evidence.kernel_memory_cgroup());
  return reasons;
}

Reason unexplained(const SystemCallDone& done, const Facts* facts) {
  if (facts == nullptr || facts->empty()) {
    return {.code = "not_read",
            .name = "not read",
            .sentence =
                "The limits were not read: memtrace was too late, or too many calls were "
                "refused at once.",
            .change = "look at the enomem view for calls of the same program that have limits",
            .asked = asked_bytes(done)};
  }
  const Facts& read = *facts;
  if (read.number("rlimit_as") == nullptr && read.text("rlimit_as") == nullptr) {
    return {.code = "process_ended",
            .name = "process ended",
            .sentence =
                "The process had ended before its limits could be read, and those of the "
                "machine do not explain it.",
            .change = "see ulimit -a where the program is started, and the limits of its unit",
            .asked = asked_bytes(done)};
  }
  return {
      .code = "not_explained",
      .name = "not explained",
      .sentence = fmt::format(
          "No limit that memtrace reads was passed: address space {} of {}, private memory {} "
          "of {}, mappings {} of {}, memory cgroup {} of {}.",
          limit_text(read, "vm_size", Unit::Bytes),
          limit_text(read, "rlimit_as", Unit::Bytes),
          limit_text(read, "vm_data", Unit::Bytes),
          limit_text(read, "rlimit_data", Unit::Bytes),
          limit_text(read, "mappings", Unit::Count),
          limit_text(read, "max_map_count", Unit::Count),
          limit_text(read, "cgroup_usage", Unit::Bytes),
          limit_text(read, "cgroup_limit", Unit::Bytes)),
      .change = "the address may be taken or out of range, or what was in the way is gone by now",
      .asked = asked_bytes(done)};
}

}  // namespace memtrace
