// Descriptors of events that are closed by a thread: in which order, and what happens in between.
#include "perf/event/event_closer.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "support/simulated_kernel.h"

namespace memtrace::test {
namespace {

OpenedFd open_as(bool of_user_probe) {
  static const SimulatedKernel kernel({.name = "6.18", .attr_bytes = 136, .flag_bits = 39});
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  return {.fd = EventFd::open(attr, {}, "event", {.calls = &kernel}).take(),
          .of_user_probe = of_user_probe};
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

TEST(EventCloserTest, definitions_go_when_the_probes_are_closed_and_others_are_not) {
  std::vector<OpenedFd> fds;
  fds.push_back(open_as(false));
  fds.push_back(open_as(true));
  const int other = fds.front().fd.fd();
  const int probe = fds.back().fd.fd();
  int calls = 0;
  bool other_was_open = false;
  bool probe_was_open = true;
  EventCloser closer([&] {
    ++calls;
    other_was_open = is_open(other);
    probe_was_open = is_open(probe);
  });
  closer.start(std::move(fds));
  closer.wait();
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(other_was_open);
  EXPECT_FALSE(probe_was_open);
  EXPECT_FALSE(is_open(other));
}

TEST(EventCloserTest, probes_that_go_early_are_closed_before_the_end) {
  std::vector<OpenedFd> probes;
  probes.push_back(open_as(true));
  const int probe = probes.front().fd.fd();
  int calls = 0;
  EventCloser closer([&calls] { ++calls; });
  closer.close_early(std::move(probes));
  EXPECT_FALSE(closer.has_started());
  closer.wait();
  EXPECT_FALSE(is_open(probe));
  EXPECT_EQ(calls, 1);
  std::vector<OpenedFd> others;
  others.push_back(open_as(false));
  const int other = others.front().fd.fd();
  closer.start(std::move(others));
  EXPECT_TRUE(closer.has_started());
  closer.wait();
  EXPECT_FALSE(is_open(other));
  EXPECT_EQ(calls, 1);
}

TEST(EventCloserTest, without_probes_and_without_descriptors_definitions_go_once) {
  int calls = 0;
  EventCloser closer([&calls] { ++calls; });
  closer.start({});
  closer.wait();
  closer.start({});
  closer.wait();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace memtrace::test
