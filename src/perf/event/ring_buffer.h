// The memory that the kernel writes records into and memtrace reads them from: perf_event_open(2),
// "MMAP layout".
//
//   page 0: perf_event_mmap_page (data_head written by the kernel, data_tail by us)
//   then 2^n pages of data:   ....tail########head....    # = not read yet
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "os/mapping.h"
#include "perf/event/event_fd.h"

namespace memtrace {

class RingBuffer {
 public:
  // data_bytes: a power of two of pages. Error: EPERM when over the mlock budget.
  static Result<RingBuffer> map(const EventFd& event, std::size_t data_bytes);

  std::size_t unread_bytes() const;

  // Unread bytes where they lie, `from` bytes behind the first of them; fewer than `size_bytes`
  // when they go on at the start of the ring. Valid until they are consumed.
  std::span<const std::byte> unread(std::size_t from, std::size_t size_bytes) const {
    const std::size_t start = (tail_ + from) & (data_.size() - 1);
    return data_.subspan(start, std::min(size_bytes, data_.size() - start));
  }

  // Copies the `target.size()` unread bytes from there on.
  void copy_unread(std::size_t from, std::span<std::byte> target) const;

  // Gives the room of the first unread bytes back to the kernel.
  void consume(std::size_t used_bytes);

  // Gives out the unread records one by one and consumes them. False: what followed was none, and
  // has been thrown away. For rings that are small and rarely written to.
  bool take_records(const std::function<void(std::span<const std::byte>)>& take);

  // Maps all pages now, not when they are first read. Before Linux 6.15 they are mapped one by one
  // (perf_mmap_fault() in kernel/events/core.c) and are resident memory of this process.
  void touch() const;

  std::size_t data_bytes() const { return data_.size(); }

 private:
  RingBuffer(Mapping mapping, std::span<std::byte> data)
      : mapping_(std::move(mapping)), data_(data) {}

  Mapping mapping_;
  std::span<std::byte> data_;
  std::uint64_t tail_ = 0;
};

}  // namespace memtrace
