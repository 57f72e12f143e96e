#include "plan/probes/uprobe_event.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

#if defined(__x86_64__)
TEST(UprobeEvent, names_a_file_and_a_function) {
  const auto event = parse_uprobe_event("uprobe:/usr/lib/libfoo.so:foo_*");
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event.value().path, "/usr/lib/libfoo.so");
  EXPECT_EQ(event.value().function, "foo_*");
  EXPECT_EQ(event.value().arguments, "");
  EXPECT_FALSE(event.value().is_return);
}

TEST(UprobeEvent, arguments_may_be_numbered_typed_by_place_or_as_the_kernel_takes_them) {
  const auto event =
      parse_uprobe_event("uprobe:libc:f(size=arg2,flags=arg3:u32,third=s16,raw=+8(%si):string)");
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event.value().arguments, "size=%si:u64 flags=%dx:u32 third=%dx:s16 raw=+8(%si):string");
}

TEST(UprobeEvent, a_return_has_its_value) {
  const auto event = parse_uprobe_event("uprobe:libc:malloc%return(result=retval)");
  ASSERT_TRUE(event.ok());
  EXPECT_TRUE(event.value().is_return);
  EXPECT_EQ(event.value().function, "malloc");
  EXPECT_EQ(event.value().arguments, "result=%ax:u64") << "old kernels support only registers";
}
#endif

TEST(UprobeEvent, what_cannot_be_understood_is_a_usage_error) {
  for (const char* text : {"uprobe:",
                           "uprobe:libc",
                           "uprobe:libc:",
                           "uprobe::f",
                           "uprobe:l:f(",
                           "uprobe:l:f(arg1)",
                           "uprobe:l:f(a=arg9)"}) {
    const auto event = parse_uprobe_event(text);
    ASSERT_FALSE(event.ok()) << text;
    EXPECT_EQ(event.error().kind, ErrorKind::Usage) << text;
  }
}

TEST(UprobeEvent, a_library_may_be_given_by_its_short_name) {
  const UprobeEvent event{.path = "libnothing", .function = "f"};
  const auto places = find_uprobe_places(event, {{"/lib/libnothin.so", "/lib/libnothin.so"}});
  ASSERT_FALSE(places.ok());
  EXPECT_NE(places.error().hint.find("libnothin.so"), std::string::npos);
}

}  // namespace
}  // namespace memtrace
