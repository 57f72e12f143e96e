#include "views/kit/keys.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace memtrace {
namespace {

EventType type_with(std::string name, Field field) {
  EventType type;
  type.name = std::move(name);
  type.format.fields.push_back(std::move(field));
  return type;
}

TEST(FieldNames, are_those_of_the_first_event_that_lists_them) {
  const std::vector<FlagName> zero = {{.mask = 8, .name = "__GFP_ZERO"}};
  const std::vector<FlagName> other = {{.mask = 9, .name = "other"}};
  const std::deque<EventType> types = {
      type_with("kmem:kfree", {.name = "ptr"}),
      type_with("kmem:kmalloc", {.name = "gfp_flags"}),
      type_with("oom:x", {.name = "gfp_mask", .flags = zero}),
      type_with("kmem:x", {.name = "gfp_flags", .flags = other}),
  };
  FieldNames flags = gfp_flag_names();
  flags.learn(types[0]);
  flags.learn(types[1]);
  EXPECT_TRUE(flags.names().empty());
  flags.learn(types[2]);
  flags.learn(types[3]);
  ASSERT_EQ(flags.names().size(), 1U);
  EXPECT_EQ(flags.names()[0].name, "__GFP_ZERO");
}

TEST(FieldNames, of_numbers_are_symbols_of_events_of_the_group) {
  const Field status{.name = "status", .symbols = {{.mask = 3, .name = "partial"}}};
  const EventType another = type_with("huge_memory:x", status);
  const EventType compaction = type_with("compaction:mm_compaction_end", status);
  FieldNames names("compaction:", {"status"});
  names.learn(another);
  EXPECT_TRUE(names.names().empty());
  names.learn(compaction);
  ASSERT_EQ(names.names().size(), 1U);
  EXPECT_EQ(names.names()[0].mask, 3U);
}

}  // namespace
}  // namespace memtrace
