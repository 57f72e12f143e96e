// Writing back of what programs changed in files (include/trace/events/writeback.h).
#include <algorithm>
#include <array>
#include <optional>

#include "tracepoints/decode/reading.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;

std::string_view text_of(const std::optional<Field>& field, std::span<const std::byte> raw) {
  return field ? field->text(raw) : std::string_view();
}

Result<Decoder> bind_dirtied(const EventFormat& format) {
  FieldLookup lookup(format);
  const std::optional<Field> device = lookup.optional_text("name");
  const NumberAt inode = lookup.required({"ino"});
  const NumberAt index = lookup.required({"index"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return PageDirtied{.device = text_of(device, raw),
                       .inode = inode.load(raw.data()),
                       .index = index.load(raw.data())};
  });
}

// pause is in ms and below 0 when the thread may go on at once.
Result<Decoder> bind_balance(const EventFormat& format) {
  FieldLookup lookup(format);
  const std::optional<Field> device = lookup.optional_text("bdi");
  const NumberAt dirtied = lookup.required({"dirtied"});
  const NumberAt pause_ms = lookup.required({"pause"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    const auto pause = static_cast<std::int64_t>(pause_ms.load(raw.data()));
    return DirtyBalance{
        .device = text_of(device, raw),
        .dirtied_pages = dirtied.load(raw.data()),
        .pause_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(pause, 0)) * kNsPerMs};
  });
}

Result<Decoder> bind_written(const EventFormat& format) {
  FieldLookup lookup(format);
  const NumberAt pages = lookup.required({"pages"});
  return reading(lookup, [pages](std::span<const std::byte> raw) {
    const auto count = static_cast<std::int64_t>(pages.load(raw.data()));
    return PagesWritten{.pages = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0))};
  });
}

Result<Decoder> bind_inode(const EventFormat& format) {
  FieldLookup lookup(format);
  const std::optional<Field> device = lookup.optional_text("name");
  const NumberAt inode = lookup.required({"ino"});
  const NumberAt pages = lookup.required({"wrote"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    return InodeWritten{.device = text_of(device, raw),
                        .inode = inode.load(raw.data()),
                        .pages = pages.load(raw.data())};
  });
}

// A work without a reason is of a kernel before 3.2.
template <bool Begins>
Result<Decoder> bind_round(const EventFormat& format) {
  FieldLookup lookup(format);
  const std::optional<NumberAt> reason = lookup.optional("reason");
  return reading(lookup, [reason](std::span<const std::byte> raw) {
    return FlushRound{.begins = Begins, .reason = load_or(reason, raw, std::int32_t{-1})};
  });
}

constexpr std::uint64_t kSectorBytes = 512;

// rwbs is letters: W a write, F before it a flush of the disk's own cache, and others behind
// (kernel/trace/blktrace.c, blk_fill_rwbs).
Result<Decoder> bind_block_write(const EventFormat& format) {
  FieldLookup lookup(format);
  const std::optional<Field> letters = lookup.optional_text("rwbs");
  const NumberAt sectors = lookup.required({"nr_sector"});
  return reading(lookup, [=](std::span<const std::byte> raw) {
    const bool is_write = text_of(letters, raw).find('W') != std::string_view::npos;
    return BlockWrite{.bytes = is_write ? sectors.load(raw.data()) * kSectorBytes : 0};
  });
}

}  // namespace

std::span<const Tracepoint> writeback_tracepoints() {
  static constexpr std::array<Tracepoint, 8> kTracepoints = {
      {{.name = "writeback:writeback_dirty_folio",
        .bind = &bind_dirtied,
        .when_missing = "who dirties pages of files is not known"},
       {.name = "writeback:writeback_dirty_page",
        .bind = &bind_dirtied,
        .newer_name = "writeback:writeback_dirty_folio"},
       {.name = "writeback:balance_dirty_pages",
        .bind = &bind_balance,
        .when_missing = "throttling of threads that dirty pages is not seen"},
       {"writeback:writeback_pages_written", &bind_written},
       {.name = "writeback:writeback_single_inode",
        .bind = &bind_inode,
        .when_missing = "what was written of each file is not known"},
       {.name = "writeback:writeback_start",
        .bind = &bind_round<true>,
        .when_missing = "why flusher threads write is not known"},
       {"writeback:writeback_written", &bind_round<false>},
       {.name = "block:block_bio_queue",
        .bind = &bind_block_write,
        .when_missing = "how much fsync(2) and similar calls write is not known"}}};
  return kTracepoints;
}

}  // namespace memtrace
