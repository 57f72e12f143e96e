#include "perf/event/filter_inheritance.h"

#include <gtest/gtest.h>

#include <string>

#include "support/simulated_kernel.h"

namespace memtrace::test {
namespace {

const KernelModel kModel{.name = "any", .attr_bytes = 112, .flag_bits = 29, .sample_bits = 19};

// Counts the one event of a child that ended, unless the filter keeps it out.
class CountingKernel final : public PerfCalls {
 public:
  explicit CountingKernel(bool filters_children) : filters_children_(filters_children) {}

  int open(perf_event_attr& attr, Place place, unsigned long flags) const override {
    inherits = attr.inherit != 0;
    return kernel_.open(attr, place, flags);
  }

  int control(int fd, unsigned long request, unsigned long argument) const override {
    return kernel_.control(fd, request, argument);
  }

  ssize_t read(int fd, std::span<std::uint64_t> values) const override {
    const bool is_filtered = !kernel_.opened().at(fd).filter.empty();
    values[0] = filters_children_ && is_filtered ? 0 : 1;
    return sizeof(values[0]);
  }

  mutable bool inherits = false;

 private:
  bool filters_children_;
  SimulatedKernel kernel_{kModel};
};

TEST(FiltersReachChildren, as_the_count_of_an_ended_child_tells) {
  const CountingKernel rhel_6(false);
  EXPECT_FALSE(filters_reach_children(1, {.calls = &rhel_6}));
  EXPECT_TRUE(rhel_6.inherits);
  const CountingKernel later(true);
  EXPECT_TRUE(filters_reach_children(1, {.calls = &later}));
}

TEST(FiltersReachChildren, where_the_event_cannot_be_had_nothing_is_done) {
  class Forbidden final : public PerfCalls {
   public:
    int open(perf_event_attr&, Place, unsigned long) const override { return -1; }

    int control(int, unsigned long, unsigned long) const override { return -1; }

    ssize_t read(int, std::span<std::uint64_t>) const override { return -1; }
  };

  const Forbidden forbidden;
  EXPECT_TRUE(filters_reach_children(1, {.calls = &forbidden}));
}

}  // namespace
}  // namespace memtrace::test
