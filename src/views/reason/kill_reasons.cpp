#include "views/reason/kill_reasons.h"

#include <fmt/core.h>

namespace memtrace {
namespace {

std::string bytes_text(const Facts& facts, std::string_view name) {
  const std::uint64_t* bytes = facts.number(name);
  return bytes == nullptr ? "an unknown amount" : print_bytes(*bytes);
}

void blame_cgroup(Reason& reason, const Facts& facts) {
  const std::string* path = facts.text("cgroup");
  const std::string name = path == nullptr ? "its cgroup" : "the cgroup " + *path;
  reason.code = "memory_cgroup";
  reason.name = "memory cgroup";
  if (const std::uint64_t* used = facts.number("cgroup_usage")) {
    reason.used = *used;
  }
  if (const std::uint64_t* limit = facts.number("cgroup_limit")) {
    reason.limit = *limit;
  }
  reason.sentence = fmt::format(
      "The memory of {} was full: {} of {} used, and nothing was left to "
      "reclaim.",
      name,
      bytes_text(facts, "cgroup_usage"),
      bytes_text(facts, "cgroup_limit"));
  reason.change = fmt::format("raise memory.limit_in_bytes (memory.max in version 2) of {} over {}",
                              path == nullptr ? "it" : *path,
                              bytes_text(facts, "cgroup_limit"));
}

void blame_machine(Reason& reason, const Facts& facts) {
  reason.code = "machine";
  reason.name = "machine";
  if (const std::uint64_t* total = facts.number("total")) {
    reason.limit = *total;
  }
  reason.sentence = fmt::format("The machine had {} of {} free, and {} of {} of swap.",
                                bytes_text(facts, "free"),
                                bytes_text(facts, "total"),
                                bytes_text(facts, "swap_free"),
                                bytes_text(facts, "swap_total"));
  reason.change =
      "add memory or swap, or give the largest programs limits of their own (MemoryMax= of a unit)";
}

}  // namespace

Reason reason_of(const KillFacts& kill) {
  Reason reason{.code = "not_known", .name = "not known"};
  const Facts none;
  const Facts& facts = kill.seen == nullptr ? none : kill.seen->facts;
  if (kill.domain == "cgroup") {
    blame_cgroup(reason, facts);
  } else if (kill.domain == "machine") {
    blame_machine(reason, facts);
  } else if (kill.domain == "sysrq") {
    reason.code = "sysrq";
    reason.name = "sysrq";
    reason.sentence = "Somebody asked for it: echo f > /proc/sysrq-trigger.";
    reason.change = "nothing: no limit was passed";
  } else {
    reason.sentence = "Whether a cgroup or the machine ran out of memory is not known.";
    reason.change = "record the kernel's stack: as root, and without --user";
  }
  if (kill.held > 0) {
    reason.sentence += " The victim held " + print_bytes(kill.held) + ".";
  }
  if (!kill.trigger.empty()) {
    reason.sentence += " " + kill.trigger + " asked for memory.";
  }
  return reason;
}

}  // namespace memtrace
