// The thread that empties a ring, whose kernel is this test.
#include "perf/live/ring_reader.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "os/system.h"
#include "perf/event/event_attr.h"
#include "support/simulated_kernel.h"

namespace memtrace::test {
namespace {

constexpr std::uint64_t kId = 77;
constexpr std::size_t kRingBytes = std::size_t{4} << 20U;

RecordParser parser() {
  RecordParser made;
  made.add_event(SampleLayout::of(make_attr(tracking_request(), {})), std::vector{kId});
  return made;
}

class RingReaderTest : public ::testing::Test {
 protected:
  RingReaderTest() {
    parser_.publish(parser());
    auto fd = EventFd::open({}, {.tid = 0}, "test", {.calls = &kernel_});
    EXPECT_TRUE(fd.ok());
    fd_.emplace(fd.take());
    auto ring = RingBuffer::map(*fd_, kRingBytes);
    EXPECT_TRUE(ring.ok());
    ring_.emplace(ring.take());
    // What the kernel has of the same memory.
    auto mapping = Mapping::map({.fd = fd_->fd(),
                                 .size_bytes = page_size_bytes() + kRingBytes,
                                 .prot = PROT_READ | PROT_WRITE,
                                 .flags = MAP_SHARED});
    EXPECT_TRUE(mapping.ok());
    kernels_.emplace(mapping.take());
  }

  perf_event_mmap_page& control() {
    return *reinterpret_cast<perf_event_mmap_page*>(kernels_->bytes().data());
  }

  void write(std::uint16_t size_bytes) {
    const perf_event_header header{.type = PERF_RECORD_SAMPLE, .misc = 0, .size = size_bytes};
    const std::array<std::uint64_t, 5> body = {kId, 0, 0, time_ns_ += step_ns_, 0};
    std::byte* at = kernels_->bytes().data() + page_size_bytes() + head_ % kRingBytes;
    std::memcpy(at, &header, sizeof(header));
    std::memcpy(at + sizeof(header), body.data(), sizeof(body));
    head_ += size_bytes;
  }

  // Fills the ring with samples of 8 KiB, as those with copied stacks are, and waits until it is
  // empty again.
  void write_a_ring_full() {
    for (std::size_t bytes = 0; bytes < kRingBytes; bytes += 8192) {
      write(8192);
    }
    std::atomic_ref(control().data_head).store(head_, std::memory_order_release);
    while (std::atomic_ref(control().data_tail).load(std::memory_order_acquire) != head_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  SimulatedKernel kernel_{
      {.attr_bytes = sizeof(perf_event_attr), .flag_bits = 64, .sample_bits = 64, .read_bits = 64}};
  SharedParser parser_;
  std::optional<EventFd> fd_;
  std::optional<RingBuffer> ring_;
  std::optional<Mapping> kernels_;
  std::uint64_t head_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint64_t step_ns_ = 1;
};

TEST_F(RingReaderTest, what_the_merge_has_no_time_for_takes_no_more_memory_than_the_limit) {
  constexpr std::size_t kLimitChunks = 4;
  ChunkQueue queue(kLimitChunks * Chunk::kBytes);
  RingReader reader({.ring = &*ring_, .fd = fd_->fd()}, parser_, queue);
  std::uint64_t written = 0;
  for (int round = 0; round < 16; ++round) {
    write_a_ring_full();
    written += kRingBytes / 8192;
  }
  reader.stop();
  const auto chunks = queue.take_all(std::chrono::milliseconds(0));
  // At the limit a chunk may be fuller or emptier by a quarter; one more is being filled.
  EXPECT_LE(chunks.size(), kLimitChunks * 4 / 3 + 2);
  std::uint64_t dropped = 0;
  std::uint64_t kept = 0;
  for (const ChunkPtr& chunk : chunks) {
    for (const LossSpan& span : chunk->dropped) {
      EXPECT_LE(span.first_ns, span.last_ns);
      dropped += span.count;
    }
    for (std::size_t at = 0; at < chunk->used_bytes; ++kept) {
      perf_event_header header{};
      std::memcpy(&header, chunk->bytes().data() + at, sizeof(header));
      at += header.size;
    }
  }
  EXPECT_GT(kept, 0U);
  EXPECT_EQ(kept + dropped, written);
}

// The merge goes on while a ring is fuller than a chunk at each look.
TEST_F(RingReaderTest, a_ring_that_is_never_empty_is_complete_to_shortly_before_its_newest_record) {
  step_ns_ = 1'000'000;
  ChunkQueue queue(std::size_t{64} << 20U);
  RingReader reader({.ring = &*ring_, .fd = fd_->fd()}, parser_, queue);
  write_a_ring_full();
  reader.stop();
  auto chunks = queue.take_all(std::chrono::milliseconds(0));
  std::erase_if(chunks, [](const ChunkPtr& chunk) { return chunk->used_bytes == 0; });
  ASSERT_GE(chunks.size(), 4U);
  std::uint64_t complete_to_ns = 0;
  std::uint64_t newest_ns = 0;
  for (const ChunkPtr& chunk : std::span(chunks).first(3)) {
    EXPECT_GT(chunk->complete_to_ns, newest_ns) << "all before it, and some of its own";
    EXPECT_GT(chunk->complete_to_ns, complete_to_ns);
    complete_to_ns = chunk->complete_to_ns;
    newest_ns += chunk->used_bytes / 8192 * step_ns_;
    EXPECT_EQ(complete_to_ns, newest_ns - 20'000'000);
  }
}

TEST_F(RingReaderTest, little_is_handed_over_at_once_when_the_merge_has_taken_what_was_before) {
  ChunkQueue queue(std::size_t{64} << 20U);
  RingReader reader({.ring = &*ring_, .fd = fd_->fd()}, parser_, queue);
  for (int round = 0; round < 3; ++round) {
    write_a_ring_full();
    std::size_t bytes = 0;
    for (int look = 0; look < 100 && bytes < kRingBytes; ++look) {
      for (ChunkPtr& chunk : queue.take_all(std::chrono::milliseconds(20))) {
        bytes += chunk->used_bytes;
        queue.recycle(std::move(chunk));
      }
    }
    EXPECT_EQ(bytes, kRingBytes);
  }
}

}  // namespace
}  // namespace memtrace::test
