#include "perf/record/shared_parser.h"

#include <gtest/gtest.h>

#include <thread>

#include "perf/event/event_attr.h"

namespace memtrace {
namespace {

RecordParser with_event(RecordParser parser, std::uint64_t id) {
  parser.add_event(SampleLayout::of(make_attr(tracking_request(), {})), std::vector{id});
  return parser;
}

TEST(SharedParser, old_parsers_stay_and_the_newest_is_current) {
  SharedParser parser;
  parser.publish(with_event(parser.current(), 5));
  const RecordParser& old = parser.current();
  parser.publish(with_event(parser.current(), 6));
  EXPECT_FALSE(old.event_of(6));
  EXPECT_EQ(old.event_of(5), 0U);
  EXPECT_EQ(parser.current().event_of(5), 0U);
  EXPECT_EQ(parser.current().event_of(6), 1U);
}

TEST(SharedParser, a_reader_sees_whole_parsers_while_events_are_added) {
  constexpr std::uint64_t kEvents = 300;
  SharedParser parser;
  std::thread writer([&parser] {
    for (std::uint64_t id = 1; id <= kEvents; ++id) {
      parser.publish(with_event(parser.current(), id));
    }
  });
  std::uint64_t seen = 0;
  while (seen < kEvents) {
    const RecordParser& current = parser.current();
    while (current.event_of(seen + 1)) {
      EXPECT_EQ(current.event_of(seen + 1), seen);
      ++seen;
    }
  }
  writer.join();
}

}  // namespace
}  // namespace memtrace
