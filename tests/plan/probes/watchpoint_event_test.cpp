#include "plan/probes/watchpoint_event.h"

#include <gtest/gtest.h>
#include <linux/hw_breakpoint.h>

#include <fstream>

#include "support/temp_dir.h"

namespace memtrace::test {
namespace {

class WatchpointEventTest : public testing::Test {
 protected:
  Result<Watchpoint> parse(std::string_view event) {
    return parse_watchpoint_event(event, symbols_);
  }

  void set_symbols(std::string_view text) { std::ofstream(symbols_) << text; }

  TempDir dir_;
  std::string symbols_ = dir_.path() + "/kallsyms";
};

TEST_F(WatchpointEventTest, are_written_as_perf_writes_them) {
  EXPECT_TRUE(is_watchpoint_event("mem:0x1000"));
  EXPECT_FALSE(is_watchpoint_event("kmem:kmalloc"));
  const auto usual = parse("mem:0x1000");
  ASSERT_TRUE(usual.ok());
  EXPECT_EQ(usual.value().address, 0x1000U);
  EXPECT_EQ(usual.value().bytes, 4U);
  EXPECT_EQ(perf_text(usual.value()), "mem:0x1000/4:rw");
  for (const char* event : {"mem:0xffffffff82a05940/8:w", "mem:0x10/1:r", "mem:0x4011d0/8:x"}) {
    const auto watchpoint = parse(event);
    ASSERT_TRUE(watchpoint.ok()) << event;
    EXPECT_EQ(perf_text(watchpoint.value()), event);
  }
  EXPECT_EQ(perf_text(parse("mem:4096:x").value()), "mem:0x1000/8:x");
}

TEST_F(WatchpointEventTest, symbols_of_the_kernel_are_looked_up) {
  set_symbols(
      "ffffffff82a05900 D jiffies_64\nffffffff82a05940 D jiffies\n"
      "ffffffffc0001000 d counter\t[module]\n");
  EXPECT_EQ(perf_text(parse("mem:jiffies/8:w").value()), "mem:0xffffffff82a05940/8:w");
  EXPECT_EQ(parse("mem:counter").value().address, 0xffffffffc0001000U);
  const auto unknown = parse("mem:jiff");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(describe(unknown.error()).find("the kernel has no symbol 'jiff'"), std::string::npos);
}

TEST_F(WatchpointEventTest, hidden_addresses_are_told) {
  set_symbols("0000000000000000 D jiffies\n");
  const auto hidden = parse("mem:jiffies");
  ASSERT_FALSE(hidden.ok());
  EXPECT_NE(hidden.error().hint.find("kptr_restrict"), std::string::npos);
}

TEST_F(WatchpointEventTest, wrong_ones_are_told_what_is_right) {
  for (const char* event :
       {"mem:", "mem:0x", "mem:0x10/3", "mem:0x10/", "mem:0x10:z", "mem:0x10:"}) {
    const auto refused = parse(event);
    ASSERT_FALSE(refused.ok()) << event;
    EXPECT_EQ(refused.error().kind, ErrorKind::Usage) << event;
    EXPECT_NE(refused.error().hint.find("mem:ADDRESS"), std::string::npos) << event;
  }
}

TEST_F(WatchpointEventTest, kernel_is_asked_for_a_breakpoint) {
  const auto request = watchpoint_request("mem:0x1000/8:w", 1);
  ASSERT_TRUE(request.ok());
  const perf_event_attr attr = make_attr(request.value().front(), {});
  EXPECT_EQ(attr.type, std::uint32_t{PERF_TYPE_BREAKPOINT});
  EXPECT_EQ(attr.bp_addr, 0x1000U);
  EXPECT_EQ(attr.bp_len, 8U);
  EXPECT_EQ(attr.bp_type, std::uint32_t{HW_BREAKPOINT_W});
  EXPECT_NE(attr.sample_type & PERF_SAMPLE_ADDR, 0U);
}

}  // namespace
}  // namespace memtrace::test
