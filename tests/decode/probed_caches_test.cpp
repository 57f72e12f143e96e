#include "decode/probed_caches.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tracepoints/format/format.h"
#include "tracepoints/probe/kernel_functions.h"

namespace memtrace {
namespace {

// As kprobe_events lays it out: the strings lie behind all fields, where __data_loc words point.
constexpr std::string_view kFormat =
    "name: kmem_cache_alloc\nID: 2000\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:u64 site;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:__data_loc char[] name88;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] name96;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\nprint fmt: \"(%lx)\", REC->__probe_ip\n";

class ProbedCachesTest : public testing::Test {
 protected:
  ProbedCachesTest() {
    type_.name = "memtrace_kernel_12:kmem_cache_alloc";
    type_.format = parse_format(kFormat, "memtrace_kernel_12").take();
    caches_.set_caches({{"dentry", 192}, {"filp", 256}, {"other_192", 192}});
  }

  void probe(std::uint64_t site, const std::string& at_88, const std::string& at_96) {
    std::vector<std::byte> raw(32);
    std::memcpy(raw.data() + 16, &site, sizeof(site));
    for (const auto& [offset, text] : {std::pair(24, at_88), {28, at_96}}) {
      const auto place = static_cast<std::uint32_t>(raw.size());
      const auto size_bytes = static_cast<std::uint32_t>(text.size() + 1);
      const std::uint32_t word = place | size_bytes << 16U;
      std::memcpy(raw.data() + offset, &word, sizeof(word));
      const auto bytes = std::as_bytes(std::span(text.c_str(), size_bytes));
      raw.insert(raw.end(), bytes.begin(), bytes.end());
    }
    caches_.learn(type_, raw);
  }

  EventType type_;
  ProbedCaches caches_;
};

TEST_F(ProbedCachesTest, text_is_a_name_only_where_the_machine_has_such_a_cache_of_that_size) {
  EXPECT_TRUE(ProbedCaches::is_probe(type_));
  probe(0xa0, "\x01\xf7 garbage", "dentry");
  EXPECT_EQ(caches_.name_of({.call_site = 0xa0, .bytes_alloc = 192}), "dentry");
  EXPECT_EQ(caches_.name_of({.call_site = 0xa0, .bytes_alloc = 200}), "")
      << "the size says that it is another cache";
  EXPECT_EQ(caches_.name_of({.call_site = 0xb0, .bytes_alloc = 192}), "");
  probe(0xb0, "", "(fault)");
  EXPECT_EQ(caches_.name_of({.call_site = 0xb0, .bytes_alloc = 192}), "");
}

TEST_F(ProbedCachesTest, site_of_two_caches_is_told_apart_by_size_or_not_at_all) {
  probe(0xa0, "dentry", "");
  probe(0xa0, "filp", "");
  EXPECT_EQ(caches_.name_of({.call_site = 0xa0, .bytes_alloc = 192}), "dentry");
  EXPECT_EQ(caches_.name_of({.call_site = 0xa0, .bytes_alloc = 256}), "filp");
  probe(0xa0, "other_192", "");
  EXPECT_EQ(caches_.name_of({.call_site = 0xa0, .bytes_alloc = 192}), "");
}

TEST_F(ProbedCachesTest, nothing_is_believed_without_a_list_of_caches) {
  caches_ = {};
  probe(0xa0, "dentry", "");
  EXPECT_EQ(caches_.name_of({.call_site = 0xa0, .bytes_alloc = 192}), "");
}

}  // namespace
}  // namespace memtrace
