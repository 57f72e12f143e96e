#include "views/reason/page_reasons.h"

#include <fmt/core.h>

#include <array>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "state/world/fragmentation.h"

namespace memtrace {
namespace {

std::uint64_t number_or_0(const Facts& facts, std::string_view name) {
  const std::uint64_t* number = facts.number(name);
  return number == nullptr ? 0 : *number;
}

std::uint64_t page_blocks(const Facts& zone) {
  std::uint64_t sum = 0;
  for (const auto& [name, number] : zone.numbers) {
    sum += name.starts_with("blocks_") ? number : 0;
  }
  return sum;
}

std::vector<std::uint64_t> blocks_in(const Facts& zone, std::string_view name = "blocks") {
  std::vector<std::uint64_t> blocks;
  if (const std::string* text = zone.text(name)) {
    for (const std::string_view word : split(*text, ' ')) {
      blocks.push_back(parse_number(word).value_or(0));
    }
  }
  return blocks;
}

// "order-3 pages (32.0 KiB, GFP_ATOMIC)".
std::string request_text(const BlockRequest& request) {
  const std::string gfp = request.gfp.empty() ? "" : ", " + request.gfp;
  return request.object.empty()
             ? fmt::format(
                   "a block of order {} ({}{})", request.order, print_bytes(request.bytes), gfp)
             : fmt::format("{} of {} ({})",
                           request.object,
                           print_bytes(request.bytes),
                           gfp.empty() ? "order " + std::to_string(request.order) : gfp.substr(2));
}

// "33% of its page blocks are unmovable": those that compaction cannot empty.
std::string pins_text(const Facts& zone, const Facts& machine) {
  std::string text;
  if (const std::uint64_t all = page_blocks(zone); all > 0) {
    text = fmt::format(" {:.0f}% of its page blocks are unmovable, {:.0f}% reclaimable.",
                       100.0 * static_cast<double>(number_or_0(zone, "blocks_unmovable")) /
                           static_cast<double>(all),
                       100.0 * static_cast<double>(number_or_0(zone, "blocks_reclaimable")) /
                           static_cast<double>(all));
  }
  if (machine.number("slab") != nullptr) {
    text += fmt::format(
        " Pinned on the machine: {} of slab that cannot be reclaimed, {} locked by "
        "programs.",
        print_bytes(number_or_0(machine, "slab_unreclaimable")),
        print_bytes(number_or_0(machine, "mlocked")));
  }
  return text;
}

// "Movable": a type that has a block of that order, for a request that could not have it.
std::string types_with(const Facts& zone, std::size_t order) {
  constexpr std::string_view kFree = "free_";
  std::string types;
  for (const auto& [name, text] : zone.texts) {
    const auto blocks = blocks_in(zone, name);
    if (name.starts_with(kFree) && fragmentation_index(blocks, order) == kBlockIsThere) {
      types += (types.empty() ? "" : ", ") + name.substr(kFree.size());
    }
  }
  return types;
}

void blame_fragments(Reason& reason, std::int64_t index) {
  reason.code = "fragmentation";
  reason.name = "fragmentation";
  reason.sentence += fmt::format(
      " The fragmentation index is {:.3f}: there is enough memory, in too small pieces.",
      static_cast<double>(index) / 1000);
  reason.change =
      "echo 1 > /proc/sys/vm/compact_memory, raise vm.min_free_kbytes, or have the "
      "caller take single pages (kvmalloc)";
}

void blame_shortage(Reason& reason, std::int64_t index) {
  reason.code = "low_memory";
  reason.name = "low memory";
  reason.sentence +=
      fmt::format(" The fragmentation index is {:.3f}: too little memory is free at all.",
                  static_cast<double>(index) / 1000);
  reason.change =
      "free memory or add some; raise vm.min_free_kbytes where requests cannot wait "
      "for reclaim (GFP_ATOMIC)";
}

// A block is there, but the kernel keeps it (mm/page_alloc.c, __zone_watermark_ok), or it has come
// back since.
void blame_watermark(Reason& reason, const Facts& zone, std::size_t order) {
  const std::uint64_t free = number_or_0(zone, "free");
  const std::uint64_t min = number_or_0(zone, "min");
  const std::string types = types_with(zone, order);
  reason.sentence += " A block that is large enough was free a moment later";
  reason.sentence += types.empty() ? "" : " (of type " + types + ")";
  if (free < min + reason.asked.value_or(0)) {
    reason.code = "watermark";
    reason.name = "watermark";
    reason.used = free;
    reason.limit = min;
    reason.excess = min + reason.asked.value_or(0) - free;
    reason.sentence += fmt::format(
        ": but the zone has {} free and keeps min, {}.", print_bytes(free), print_bytes(min));
    reason.change = "free memory or add some; what is below min is for requests that free memory";
  } else {
    reason.code = "freed_since";
    reason.name = "freed since";
    reason.sentence +=
        ": others freed memory meanwhile, or the request would take none of that "
        "zone or type.";
    reason.change = "raise vm.min_free_kbytes, so that kswapd keeps more free in advance";
  }
}

// The allocator gives a page back that it cannot charge (mm/page_alloc.c, __alloc_pages): less than
// a hundredth of the cgroup's limit was left.
bool is_cgroup_full(const Facts& facts) {
  constexpr std::uint64_t kNearlyPart = 100;
  const std::uint64_t* used = facts.number("cgroup_usage");
  const std::uint64_t* limit = facts.number("cgroup_limit");
  return used != nullptr && limit != nullptr && *used + *limit / kNearlyPart >= *limit;
}

void blame_full_cgroup(Reason& reason, const Facts& facts) {
  const std::string* path = facts.text("cgroup");
  const std::string name = path == nullptr ? "of its cgroup" : "of the cgroup " + *path;
  reason.code = "memory_cgroup";
  reason.name = "memory cgroup";
  reason.used = number_or_0(facts, "cgroup_usage");
  reason.limit = number_or_0(facts, "cgroup_limit");
  const std::string sum = add_up(reason);
  reason.sentence +=
      fmt::format(" The machine has such a block, but the memory {} is limited to {}: {}.",
                  name,
                  print_bytes(*reason.limit),
                  sum);
  reason.change = fmt::format("raise memory.limit_in_bytes (memory.max in version 2) {} over {}",
                              name,
                              print_bytes(*reason.limit));
}

}  // namespace

const Facts* main_zone(const Observation& seen) {
  const Facts* best = nullptr;
  const auto size = [](const Facts& zone) {
    return std::tuple(page_blocks(zone), number_or_0(zone, "free"));
  };
  for (const Facts& zone : seen.rows) {
    if (best == nullptr || size(zone) > size(*best)) {
      best = &zone;
    }
  }
  return best;
}

Reason reason_of(const BlockRequest& request, const Observation* seen) {
  Reason reason{.code = "not_read", .name = "not read", .asked = request.bytes};
  reason.sentence = "The kernel had no memory for " + request_text(request) + ".";
  const Facts* zone = seen == nullptr ? nullptr : main_zone(*seen);
  if (zone == nullptr) {
    reason.sentence += " What was free then was not read.";
    reason.change = "run memtrace as root, and without other events that keep it busy";
    return reason;
  }
  reason.sentence += fmt::format(" Zone {} of node {} has {} free.",
                                 *zone->text("zone"),
                                 number_or_0(*zone, "node"),
                                 print_bytes(number_or_0(*zone, "free")));
  // sysctl vm.extfrag_threshold, by which the kernel itself compacts or reclaims.
  constexpr std::int64_t kThreshold = 500;
  const std::int64_t index = fragmentation_index(blocks_in(*zone), request.order);
  if (index == kBlockIsThere && is_cgroup_full(seen->facts)) {
    blame_full_cgroup(reason, seen->facts);
    return reason;
  }
  if (index == kBlockIsThere) {
    blame_watermark(reason, *zone, request.order);
  } else if (index > kThreshold) {
    blame_fragments(reason, index);
  } else {
    blame_shortage(reason, index);
  }
  reason.sentence += pins_text(*zone, seen->facts);
  return reason;
}

}  // namespace memtrace
