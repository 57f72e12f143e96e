#include "perf/live/overload.h"

#include <linux/perf_event.h>

#include <cstring>

namespace memtrace {
namespace {

perf_event_header header_at(std::span<const std::byte> bytes, std::size_t at) {
  perf_event_header header{};
  std::memcpy(&header, bytes.data() + at, sizeof(header));
  return header;
}

// The chain with at most kCutStackEntries after each context marker, written over itself.
std::size_t cut_chain(std::span<std::uint64_t> chain) {
  std::size_t kept = 0;
  std::size_t in_context = 0;
  for (const std::uint64_t entry : chain) {
    in_context = entry >= kFirstContextMarker ? 0 : in_context + 1;
    if (in_context <= kCutStackEntries) {
      chain[kept++] = entry;
    }
  }
  return kept;
}

// `part` lies in `record`.
std::size_t offset_in(std::span<const std::byte> record, const void* part) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(part) - record.data());
}

void put_word(std::span<std::byte> record, std::size_t at, std::uint64_t word) {
  std::memcpy(record.data() + at, &word, sizeof(word));
}

// The record's new size: its copied stack comes last (perf/event/event_attr.h): a size, that many
// bytes, and how many of them the kernel filled.
std::size_t cut_copied_stack(std::span<std::byte> record, std::span<const std::byte> stack) {
  if (stack.size() <= kCutStackBytes) {
    return record.size();
  }
  const std::size_t start = offset_in(record, stack.data());
  put_word(record, start - sizeof(std::uint64_t), kCutStackBytes);
  put_word(record, start + kCutStackBytes, kCutStackBytes);
  return start + kCutStackBytes + sizeof(std::uint64_t);
}

// The record's new size. `record` is moved together behind its shortened callchain.
std::size_t cut_callchain(std::span<std::byte> record, std::span<const std::uint64_t> chain) {
  if (chain.empty()) {
    return record.size();
  }
  const std::size_t start = offset_in(record, chain.data());
  auto* words = reinterpret_cast<std::uint64_t*>(record.data() + start);
  const std::size_t kept = cut_chain({words, chain.size()});
  put_word(record, start - sizeof(std::uint64_t), kept);
  const std::size_t tail = start + chain.size_bytes();
  std::memmove(words + kept, record.data() + tail, record.size() - tail);
  return record.size() - (chain.size() - kept) * sizeof(std::uint64_t);
}

// The record's new size.
std::size_t cut_record(std::span<std::byte> record, const RecordParser& parser, Chunk& chunk) {
  const auto parsed = parser.parse(record);
  if (!parsed.ok()) {
    return record.size();
  }
  const auto& sample = std::get<Sample>(parsed.value().payload);
  std::size_t size = cut_copied_stack(record, sample.user_stack);
  size = cut_callchain(record.first(size), sample.callchain);
  if (size == record.size()) {
    return size;
  }
  auto header = header_at(record, 0);
  header.size = static_cast<std::uint16_t>(size);
  std::memcpy(record.data(), &header, sizeof(header));
  ++chunk.cut_stacks;
  return size;
}

}  // namespace

void apply_overload(Chunk& chunk,
                    Overload level,
                    const RecordParser& parser,
                    std::size_t from_bytes) {
  const auto bytes = chunk.bytes();
  std::size_t written = from_bytes;
  for (std::size_t at = from_bytes; at < bytes.size();) {
    const perf_event_header header = header_at(bytes, at);
    const auto record = bytes.subspan(at, header.size);
    at += header.size;
    std::size_t kept = record.size();
    if (header.type == PERF_RECORD_SAMPLE && level == Overload::DropSamples) {
      add_loss(chunk.dropped, parser.time_ns(record));
      continue;
    }
    if (header.type == PERF_RECORD_SAMPLE && level == Overload::CutStacks) {
      kept = cut_record(record, parser, chunk);
    }
    std::memmove(bytes.data() + written, record.data(), kept);
    written += kept;
  }
  chunk.used_bytes = written;
}

}  // namespace memtrace
