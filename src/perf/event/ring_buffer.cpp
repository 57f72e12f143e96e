#include "perf/event/ring_buffer.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/units.h"
#include "os/system.h"
#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

perf_event_mmap_page& control_page(const Mapping& mapping) {
  return *reinterpret_cast<perf_event_mmap_page*>(mapping.bytes().data());
}

}  // namespace

Result<RingBuffer> RingBuffer::map(const EventFd& event, std::size_t data_bytes) {
  const std::size_t page = page_size_bytes();
  auto mapping = Mapping::map({.fd = event.fd(),
                               .size_bytes = page + data_bytes,
                               .prot = PROT_READ | PROT_WRITE,
                               .flags = MAP_SHARED});
  if (!mapping.ok()) {
    return Error{"ring buffer of " + print_bytes(data_bytes),
                 mapping.error().errno_value,
                 "raise kernel.perf_event_mlock_kb, or run with CAP_IPC_LOCK"};
  }
  Mapping owned = mapping.take();
  const auto data = owned.bytes().subspan(page);  // data_offset is 0 before 4.1
  return RingBuffer(std::move(owned), data);
}

std::size_t RingBuffer::unread_bytes() const {
  // Acquire: the kernel's stores to the data come before its store to data_head
  // (kernel/events/ring_buffer.c, perf_output_put_handle).
  const std::uint64_t head =
      std::atomic_ref(control_page(mapping_).data_head).load(std::memory_order_acquire);
  return static_cast<std::size_t>(head - tail_);
}

void RingBuffer::copy_unread(std::size_t from, std::span<std::byte> target) const {
  const auto before_wrap = unread(from, target.size());
  std::memcpy(target.data(), before_wrap.data(), before_wrap.size());
  std::memcpy(target.data() + before_wrap.size(), data_.data(), target.size() - before_wrap.size());
}

void RingBuffer::consume(std::size_t used_bytes) {
  tail_ += used_bytes;
  // Release: our loads of the data come before the kernel may overwrite it.
  std::atomic_ref(control_page(mapping_).data_tail).store(tail_, std::memory_order_release);
}

void RingBuffer::touch() const {
  const std::size_t page = page_size_bytes();
  for (std::size_t at = 0; at < data_.size(); at += page) {
    (void)*static_cast<volatile std::byte*>(data_.data() + at);
  }
}

bool RingBuffer::take_records(const std::function<void(std::span<const std::byte>)>& take) {
  std::vector<std::uint64_t> words;  // aligned as records are
  for (std::size_t unread = unread_bytes(); unread >= sizeof(RecordHeader);) {
    RecordHeader header{};
    copy_unread(0, std::as_writable_bytes(std::span(&header, 1)));
    if (header.size_bytes < sizeof(RecordHeader) || header.size_bytes > unread) {
      consume(unread);
      return false;
    }
    words.assign((header.size_bytes + sizeof(words[0]) - 1) / sizeof(words[0]), 0);
    const auto bytes = std::as_writable_bytes(std::span(words)).first(header.size_bytes);
    copy_unread(0, bytes);
    consume(header.size_bytes);
    unread -= header.size_bytes;
    take(bytes);
  }
  return true;
}

}  // namespace memtrace
