// Probes that are one event of the kernel's.
#include <gtest/gtest.h>

#include "perf/event/event_set.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kTracepoint = 1700;

OpenedEvent probe(std::uint32_t number, const std::string& filter) {
  OpenedEvent event;
  event.request.info = {.name = "memtrace_heap_1:f" + std::to_string(number),
                        .kind = EventKind::Tracepoint,
                        .config = 65535 - number};
  event.request.filter = filter;
  event.request.shared = SharedProbe{.tracepoint_id = kTracepoint,
                                     .number = number,
                                     .number_offset = 16,
                                     .fields = {{"size", "arg_0"}}};
  return event;
}

TEST(SharedProbeTest, first_is_opened_for_all_and_each_has_an_id_of_its_own) {
  std::vector<OpenedEvent> events = {OpenedEvent{}, probe(0, ""), probe(1, "")};
  mark_shared(events);
  EXPECT_FALSE(events[0].is_opened_by_other);
  EXPECT_FALSE(events[1].is_opened_by_other);
  EXPECT_TRUE(events[2].is_opened_by_other);
  EXPECT_TRUE(events[0].ids.empty());
  EXPECT_NE(events[1].ids, events[2].ids);
}

TEST(SharedProbeTest, event_is_opened_by_the_kernels_number_and_written_with_its_own) {
  const EventRequest request = probe(1, "").request;
  const perf_event_attr attr = make_attr(request, {});
  EXPECT_EQ(attr.config, kTracepoint);
  EXPECT_EQ(file_attr(attr, request).config, 65534U);
}

TEST(SharedProbeTest, filter_of_one_does_not_touch_the_others) {
  const std::vector<OpenedEvent> none = {probe(0, ""), probe(1, "")};
  EXPECT_EQ(shared_filter(none.front(), none), "");
  const std::vector<OpenedEvent> one = {probe(0, "size >= 4096 && my_size != size"), probe(1, "")};
  EXPECT_EQ(shared_filter(one.front(), one),
            "(probe_number == 0 && (arg_0 >= 4096 && my_size != arg_0)) || probe_number == 1");
}

}  // namespace
}  // namespace memtrace
