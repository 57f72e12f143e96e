#include "plan/probes/probe_slots.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

const ProbeSlots& slots() {
  static const ProbeSlots made({"u64", "u64", "u32"});
  return made;
}

TEST(ProbeSlotsTest, each_argument_gets_a_slot_of_its_type_and_the_rest_hold_zero) {
  const auto malloc = slots().fill("size=%di:u64 sp=%sp:u32", 1);
  ASSERT_TRUE(malloc);
  EXPECT_EQ(malloc->args, "probe_number=\\1:u32 arg_0=%di:u64 arg_1=\\0:u64 arg_2=%sp:u32");
  EXPECT_EQ(malloc->fields,
            (std::map<std::string, std::string>{{"size", "arg_0"}, {"sp", "arg_2"}}));
  const auto calloc = slots().fill("count=%di:u64 size=%si:u64", 12);
  ASSERT_TRUE(calloc);
  EXPECT_EQ(calloc->args, "probe_number=\\12:u32 arg_0=%di:u64 arg_1=%si:u64 arg_2=\\0:u32");
}

TEST(ProbeSlotsTest, arguments_that_do_not_fit_are_not_shared) {
  EXPECT_FALSE(slots().fill("a=%di:u64 b=%si:u64 c=%dx:u64", 0)) << "too many";
  EXPECT_FALSE(slots().fill("text=+0(%di):string", 0)) << "another type";
  EXPECT_FALSE(slots().fill("%di", 0)) << "no name, no type";
}

constexpr std::string_view kShared =
    "name: shared\nID: 1700\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
    "\tfield:unsigned long __probe_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:u32 probe_number;\toffset:24;\tsize:4;\tsigned:0;\n"
    "\tfield:u64 arg_1;\toffset:28;\tsize:8;\tsigned:0;\n"
    "\tfield:u64 arg_10;\toffset:36;\tsize:8;\tsigned:0;\n\n"
    "print fmt: \"(%lx) arg_1=%Lu arg_10=%Lu\", REC->__probe_ip, REC->arg_1, REC->arg_10\n";

TEST(ProbeSlotsTest, own_format_has_the_own_names) {
  const std::map<std::string, std::string> fields{{"size", "arg_1"}};
  const std::string own = own_format(kShared, {.event = "malloc", .id = 65535, .fields = fields});
  EXPECT_TRUE(own.starts_with("name: malloc\nID: 65535\nformat:\n"));
  EXPECT_NE(own.find("field:u64 size;\toffset:28"), std::string::npos) << own;
  EXPECT_NE(own.find("\"(%lx) size=%Lu arg_10=%Lu\", REC->__probe_ip, REC->size, REC->arg_10"),
            std::string::npos)
      << own;
}

TEST(ProbeSlotsTest, place_of_the_number_is_read_from_the_format) {
  EXPECT_EQ(number_offset(kShared), 24U);
  EXPECT_EQ(number_offset("name: malloc\n"), std::nullopt);
}

}  // namespace
}  // namespace memtrace
