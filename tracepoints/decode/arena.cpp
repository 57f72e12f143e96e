#include "tracepoints/decode/arena.h"

#include <algorithm>
#include <array>
#include <optional>

#include "tracepoints/decode/heap.h"
#include "tracepoints/decode/tracepoint.h"
#include "tracepoints/format/field_lookup.h"

namespace memtrace {
namespace {

constexpr std::string_view kOwnGroup = "memtrace_";
constexpr std::string_view kPerfGroup = "sdt_";
constexpr std::string_view kStart = "libc_memory_";

struct MarkArguments {
  std::array<std::optional<NumberAt>, 3> at;

  // 0 for one that could not be fetched.
  std::uint64_t load(std::size_t index, const std::byte* data) const {
    return at[index] ? at[index]->load(data) : 0;
  }

  std::optional<std::uint64_t> find(std::size_t index, const std::byte* data) const {
    return at[index] ? std::optional(at[index]->load(data)) : std::nullopt;
  }
};

using Reader = ArenaEvent (*)(ArenaOp op, const MarkArguments& arguments, const std::byte* data);

ArenaEvent read_address_first(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  return {.op = op, .address = arguments.load(0, data), .bytes = arguments.load(1, data)};
}

// arena_reuse(arena, avoided), arena_reuse_free_list(arena)
ArenaEvent read_address(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  return {.op = op, .address = arguments.load(0, data)};
}

// arena_retry(bytes, arena), malloc_retry(bytes)
ArenaEvent read_bytes_first(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  return {.op = op, .address = arguments.load(1, data), .bytes = arguments.load(0, data)};
}

ArenaEvent read_bytes(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  return {.op = op, .bytes = arguments.load(0, data)};
}

// arena_reuse_wait(mutex, arena, avoided)
ArenaEvent read_wait(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  return {.op = op, .address = arguments.load(1, data)};
}

// The manual has the size first, the code (malloc/malloc.c, sysmalloc) the address; where sbrk(2)
// failed the address is -1. A size is the smaller of both.
ArenaEvent read_sbrk(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  const std::uint64_t first = arguments.load(0, data);
  const std::uint64_t second = arguments.load(1, data);
  const std::uint64_t address = std::max(first, second);
  const bool failed = address == ~std::uint64_t{0};
  return {.op = failed ? ArenaOp::Other : op,
          .address = failed ? 0 : address,
          .bytes = failed ? 0 : std::min(first, second)};
}

ArenaEvent read_thresholds(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  return {.op = op,
          .mmap_threshold_bytes = arguments.find(0, data),
          .trim_threshold_bytes = arguments.find(1, data)};
}

// mallopt(3): the new value comes first.
ArenaEvent read_mmap_threshold(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  return {.op = op, .mmap_threshold_bytes = arguments.find(0, data)};
}

ArenaEvent read_trim_threshold(ArenaOp op, const MarkArguments& arguments, const std::byte* data) {
  return {.op = op, .trim_threshold_bytes = arguments.find(0, data)};
}

struct Probe {
  std::string_view name;
  ArenaOp op = ArenaOp::Other;
  Reader read = nullptr;
};

constexpr auto kProbes = std::to_array<Probe>({
    {"arena_new", ArenaOp::ArenaNew, read_address_first},
    {"arena_reuse", ArenaOp::ArenaReuse, read_address},
    {"arena_reuse_free_list", ArenaOp::ArenaReuseFreeList, read_address},
    {"arena_reuse_wait", ArenaOp::ArenaWait, read_wait},
    {"arena_retry", ArenaOp::ArenaRetry, read_bytes_first},
    {"heap_new", ArenaOp::HeapNew, read_address_first},
    {"heap_more", ArenaOp::HeapMore, read_address_first},
    {"heap_less", ArenaOp::HeapLess, read_address_first},
    {"heap_free", ArenaOp::HeapFree, read_address_first},
    {"sbrk_more", ArenaOp::SbrkMore, read_sbrk},
    {"sbrk_less", ArenaOp::SbrkLess, read_sbrk},
    {"malloc_retry", ArenaOp::Retry, read_bytes},
    {"calloc_retry", ArenaOp::Retry, read_bytes},
    {"realloc_retry", ArenaOp::Retry, read_bytes},
    {"memalign_retry", ArenaOp::Retry, read_bytes},
    {"mallopt_free_dyn_thresholds", ArenaOp::Thresholds, read_thresholds},
    {"mallopt_mmap_threshold", ArenaOp::Thresholds, read_mmap_threshold},
    {"mallopt_trim_threshold", ArenaOp::Thresholds, read_trim_threshold},
});

constexpr Probe kOtherProbe{"", ArenaOp::Other, read_address};

// "libc_memory_heap_new_3", "memory_heap_new" -> "heap_new": a probe is numbered for each place.
std::string_view bare_name(std::string_view name) {
  const std::size_t start = name.find("memory_");
  name.remove_prefix(start == std::string_view::npos ? 0 : start + 7);
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool is_numbered =
      last != std::string_view::npos && last > 0 && name[last] == '_' && last + 1 < name.size();
  return is_numbered ? name.substr(0, last) : name;
}

const Probe& find_probe(std::string_view name) {
  const std::string_view bare = bare_name(name);
  const auto* found = std::ranges::find(kProbes, bare, &Probe::name);
  return found == kProbes.end() ? kOtherProbe : *found;
}

Result<Decoder> bind_arena(const EventFormat& format) {
  FieldLookup lookup(format);
  const MarkArguments arguments{
      {lookup.optional("arg1"), lookup.optional("arg2"), lookup.optional("arg3")}};
  TRY(lookup.check());
  const std::size_t needed_bytes = lookup.needed_bytes();
  const Probe probe = find_probe(format.name);
  return Decoder([=](const RawSample& sample) -> RawPayload {
    if (sample.raw.size() < needed_bytes) {
      return {};
    }
    return probe.read(probe.op, arguments, sample.raw.data());
  });
}

}  // namespace

std::string user_probe_name(std::string_view event_name) {
  const std::size_t colon = event_name.find(':');
  if (colon == std::string_view::npos || is_heap_event(event_name)) {
    return "";
  }
  const std::string_view group = event_name.substr(0, colon);
  std::string_view event = event_name.substr(colon + 1);
  event = event.substr(0, event.find(':'));  // perf's modifiers
  if (group.starts_with(kOwnGroup)) {
    return std::string(event);
  }
  return group.starts_with(kPerfGroup)
             ? std::string(group.substr(kPerfGroup.size())) + "_" + std::string(event)
             : "";
}

bool is_arena_event(std::string_view event_name) {
  return user_probe_name(event_name).starts_with(kStart);
}

const Tracepoint& arena_probe() {
  static constexpr Tracepoint kProbe{"memtrace_*:libc_memory_*", &bind_arena};
  return kProbe;
}

}  // namespace memtrace
