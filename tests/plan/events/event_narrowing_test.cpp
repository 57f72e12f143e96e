#include "plan/events/event_narrowing.h"

#include <gtest/gtest.h>

#include <array>

namespace memtrace::test {
namespace {

EventRequest tracepoint(const char* name, const char* filter = "") {
  return {.info = {.name = name, .kind = EventKind::Tracepoint},
          .type = kTypeTracepoint,
          .filter = filter};
}

constexpr std::array<EventNarrowing, 2> kParts = {{
    {.event = "kmem:mm_page_alloc", .filter = "order >= 9", .stacks = EventNarrowing::Stacks::None},
    {.event = "kmem:kmalloc", .stacks = EventNarrowing::Stacks::Kernel},
}};

TEST(EventPartsTest, event_without_a_part_is_needed_whole) {
  EXPECT_EQ(find_narrowing(kParts, "kmem:kfree"), nullptr);
  EXPECT_EQ(find_narrowing(kParts, "kmem:kmalloc"), &kParts[1]);
}

TEST(EventPartsTest, part_has_fewer_samples_and_shorter_stacks) {
  EventRequest pages = tracepoint("kmem:mm_page_alloc");
  narrow(pages, kParts[0]);
  EXPECT_EQ(pages.filter, "order >= 9");
  EXPECT_FALSE(pages.stacks);
  EventRequest slab = tracepoint("kmem:kmalloc");
  narrow(slab, kParts[1]);
  EXPECT_EQ(slab.filter, "");
  EXPECT_TRUE(slab.stacks);
  EXPECT_FALSE(slab.user_stack);
}

// A page is a pfn, or a struct page before 4.4: the filter must be on what the event has.
TEST(EventPartsTest, of_two_parts_the_one_whose_field_is_there_is_taken) {
  constexpr std::array<EventNarrowing, 2> kPages = {
      {{.event = "kmem:mm_page_alloc", .filter = "pfn == 1"},
       {.event = "kmem:mm_page_alloc", .filter = "page == 0"}}};
  EventRequest request = tracepoint("kmem:mm_page_alloc");
  request.info.format = "\tfield:struct page * page;\toffset:8;\tsize:8;\tsigned:0;\n";
  EXPECT_EQ(suitable_narrowing(kPages, request), &kPages[1]);
  request.info.format = "\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n";
  EXPECT_EQ(suitable_narrowing(kPages, request), &kPages[0]);
  request.info.format.clear();
  EXPECT_EQ(suitable_narrowing(kPages, request), &kPages[0]) << "nothing is known of it";
  EXPECT_EQ(suitable_narrowing(kParts, tracepoint("kmem:kfree")), nullptr);
}

// mm_filemap_add_to_page_cache has an order from 6.1 on.
TEST(EventPartsTest, part_of_a_field_that_is_missing_is_of_no_use_if_it_needs_the_field) {
  EventNarrowing part{.event = "kmem:mm_page_alloc", .filter = "order > 0", .needs_field = true};
  EventRequest request = tracepoint("kmem:mm_page_alloc");
  EXPECT_FALSE(is_useless(request, part)) << "nothing is known of it";
  request.info.format = "\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n";
  EXPECT_TRUE(is_useless(request, part));
  part.needs_field = false;
  EXPECT_FALSE(is_useless(request, part));
  request.info.format = "\tfield:unsigned char order;\toffset:8;\tsize:1;\tsigned:0;\n";
  part.needs_field = true;
  EXPECT_FALSE(is_useless(request, part));
}

TEST(EventPartsTest, what_two_views_need_is_enough_for_both) {
  EventRequest known = tracepoint("kmem:mm_page_alloc", "order >= 9");
  known.stacks = false;
  EventRequest other = known;
  widen(known, other);
  EXPECT_EQ(known.filter, "order >= 9");
  EXPECT_FALSE(known.stacks);
  other.filter = "";
  other.stacks = true;
  other.user_stack = false;
  widen(known, other);
  EXPECT_EQ(known.filter, "");
  EXPECT_TRUE(known.stacks);
  EXPECT_FALSE(known.user_stack);  // the one without a stack asked for no user stack
  widen(known, tracepoint("kmem:mm_page_alloc"));
  EXPECT_TRUE(known.user_stack);
}

TEST(EventPartsTest, recording_knows_what_was_left_out_and_for_whom_it_is_enough) {
  const std::array<EventRequest, 2> requests = {tracepoint("kmem:mm_page_alloc", "order >= 9"),
                                                tracepoint("kmem:kmalloc")};
  const std::map<std::string, std::string> expected = {{"kmem:mm_page_alloc", "order >= 9"}};
  EXPECT_EQ(filters_of_parts(requests), expected);
  const ViewSpec narrow_view{.parts = kParts};
  EXPECT_TRUE(covers(narrow_view, "kmem:mm_page_alloc", "order >= 9"));
  EXPECT_FALSE(covers(narrow_view, "kmem:mm_page_alloc", "order >= 4"));
  EXPECT_FALSE(covers(ViewSpec{}, "kmem:mm_page_alloc", "order >= 9"));
}

}  // namespace
}  // namespace memtrace::test
