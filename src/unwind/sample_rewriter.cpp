#include "unwind/sample_rewriter.h"

#include <cstring>

namespace memtrace {
namespace {

constexpr std::size_t kSizeOffset = 6;  // of perf_event_header::size, the last of its 8 bytes

std::size_t place_in(std::span<const std::byte> record, const void* place) {
  return static_cast<std::size_t>(static_cast<const std::byte*>(place) - record.data());
}

}  // namespace

std::span<const std::byte> SampleRewriter::rewrite(std::span<const std::byte> record,
                                                   const Sample& sample,
                                                   std::span<const std::uint64_t> callchain) {
  const std::size_t chain_start = place_in(record, sample.callchain.data());
  const std::size_t chain_end = chain_start + sample.callchain.size_bytes();
  const std::size_t raw_end =
      sample.raw.empty() ? chain_end : place_in(record, sample.raw.data() + sample.raw.size());
  const std::uint64_t entries = callchain.size();
  const std::size_t last_bytes = sample.has_physical_address ? sizeof(sample.physical_address) : 0;
  bytes_.resize(chain_start + callchain.size_bytes() + raw_end - chain_end + last_bytes);
  std::byte* out = bytes_.data();
  std::memcpy(out, record.data(), chain_start - sizeof(entries));
  std::memcpy(out + chain_start - sizeof(entries), &entries, sizeof(entries));
  std::memcpy(out + chain_start, callchain.data(), callchain.size_bytes());
  std::memcpy(
      out + chain_start + callchain.size_bytes(), record.data() + chain_end, raw_end - chain_end);
  // It stood behind the registers and the stack, which are gone.
  std::memcpy(out + bytes_.size() - last_bytes, &sample.physical_address, last_bytes);
  const auto size = static_cast<std::uint16_t>(bytes_.size());
  std::memcpy(out + kSizeOffset, &size, sizeof(size));
  return bytes_;
}

// The id comes first (PERF_SAMPLE_IDENTIFIER: older kernels do not share), the number of the
// tracepoint is what raw data begins with. In a rewritten record the raw data is the last of it.
std::span<const std::byte> SampleRewriter::rename(std::span<const std::byte> bytes,
                                                  const Sample& sample,
                                                  OwnNames names) {
  constexpr std::size_t kIdOffset = 8;  // behind the header
  const bool is_rewritten = bytes.data() == bytes_.data();
  const auto* raw = sample.raw.data();
  const std::size_t raw_start =
      is_rewritten ? bytes.size() - sample.raw.size() : place_in(bytes, raw);
  if (!is_rewritten) {
    bytes_.assign(bytes.begin(), bytes.end());
  }
  std::memcpy(bytes_.data() + kIdOffset, &names.id, sizeof(names.id));
  if (!sample.raw.empty()) {  // else it is no tracepoint's
    std::memcpy(bytes_.data() + raw_start, &names.tracepoint, sizeof(names.tracepoint));
  }
  return bytes_;
}

}  // namespace memtrace
