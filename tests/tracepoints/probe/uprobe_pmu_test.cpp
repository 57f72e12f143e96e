#include "tracepoints/probe/uprobe_pmu.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tracepoints/format/format.h"

namespace memtrace {
namespace {

std::vector<RegisterArgument> arguments(std::string_view text) {
  auto parsed = parse_register_arguments(text);
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? parsed.take() : std::vector<RegisterArgument>();
}

#if defined(__x86_64__)

TEST(uprobe_pmu, plain_registers_are_arguments) {
  const auto args = arguments("size=%di:u64 sp=%sp:u32 old=%r12:s16 any=%ax got=$retval");
  ASSERT_EQ(args.size(), 5U);
  EXPECT_EQ(args[0].name, "size");
  EXPECT_EQ(args[0].perf_register, 5U);
  EXPECT_EQ(args[1].size_bytes, 4U);
  EXPECT_EQ(args[2].perf_register, 20U);
  EXPECT_TRUE(args[2].is_signed);
  EXPECT_EQ(args[3].size_bytes, 8U);
  EXPECT_EQ(args[4].perf_register, 0U);
}

TEST(uprobe_pmu, memory_and_text_are_refused) {
  for (const char* word : {"a=-8(%ax):u64",
                           "a=\\x:u8",
                           "a=\\",
                           "a=@+16:u64",
                           "a=%di:string",
                           "a=%xyz",
                           "=%di",
                           "a=%di:u24",
                           "a=$stack1"}) {
    const auto parsed = parse_register_arguments(word);
    ASSERT_FALSE(parsed.ok()) << word;
    EXPECT_NE(parsed.error().message.find(word), std::string::npos);
  }
}

TEST(uprobe_pmu, constants_and_arguments_without_a_name_are_taken) {
  const auto args = arguments("kind=\\7:u8 %di:u64 low=\\-3:s32 \\0x10");
  ASSERT_EQ(args.size(), 4U);
  EXPECT_FALSE(args[0].perf_register);
  EXPECT_EQ(args[1].name, "arg2");
  EXPECT_EQ(args[1].perf_register, 5U);
  EXPECT_EQ(args[3].name, "arg4");
  const auto layout =
      parse_format(synthetic_format({.name = "memtrace_1:x", .id = 9}, args, false), "memtrace_1");
  ASSERT_TRUE(layout.ok());
  const std::vector<std::uint64_t> values = {42};
  const std::vector<std::uint64_t> places = {1};
  const auto raw = synthesize_raw({.id = 9}, places, args, {.mask = 1U << 5U, .values = values});
  const auto field = [&](const char* name) { return layout.value().find(name)->number(raw); };
  EXPECT_EQ(field("kind"), 7U);
  EXPECT_EQ(field("arg2"), 42U);
  EXPECT_EQ(field("low"), static_cast<std::uint64_t>(-3));
  EXPECT_EQ(field("arg4"), 16U);
}

TEST(uprobe_pmu, made_up_samples_read_as_the_made_up_format_says) {
  const auto args = arguments("size=%di:u64 sp=%sp:u32 delta=%si:s8");
  const auto layout = parse_format(
      synthetic_format({.name = "memtrace_1:malloc", .id = 70}, args, false), "memtrace_1");
  ASSERT_TRUE(layout.ok());
  const std::vector<std::uint64_t> values = {0x11FE, 4242, 0x7FFF12345678};  // si, di, sp
  const std::vector<std::uint64_t> places = {0x401000};
  const auto raw = synthesize_raw({.id = 70, .pid = 4711},
                                  places,
                                  args,
                                  {.mask = (1U << 4U) | (1U << 5U) | (1U << 7U), .values = values});
  const auto field = [&](const char* name) { return layout.value().find(name)->number(raw); };
  EXPECT_EQ(field("common_type"), 70U);
  EXPECT_EQ(field("common_pid"), 4711U);
  EXPECT_EQ(field("__probe_ip"), 0x401000U);
  EXPECT_EQ(field("size"), 4242U);
  EXPECT_EQ(field("sp"), 0x12345678U);
  EXPECT_EQ(field("delta"), static_cast<std::uint64_t>(-2));
}

TEST(uprobe_pmu, return_probes_have_two_places) {
  const auto args = arguments("result=$retval");
  const auto layout = parse_format(
      synthetic_format({.name = "memtrace_1:malloc_ret", .id = 71}, args, true), "memtrace_1");
  ASSERT_TRUE(layout.ok());
  const std::vector<std::uint64_t> values = {99};
  const std::vector<std::uint64_t> places = {1, 2};
  const auto raw = synthesize_raw({.id = 71}, places, args, {.mask = 1, .values = values});
  EXPECT_EQ(raw.size(), 32U);
  EXPECT_EQ(layout.value().find("__probe_ret_ip")->number(raw), 2U);
  EXPECT_EQ(layout.value().find("result")->number(raw), 99U);
}

TEST(uprobe_pmu, sample_without_registers_makes_nothing) {
  const std::vector<std::uint64_t> places = {1};
  EXPECT_TRUE(synthesize_raw({.id = 70}, places, arguments("size=%di"), {}).empty());
}

#endif

class UprobePmuFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("memtrace-uprobe-pmu-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "format");
    write("type", "8\n");
    write("format/retprobe", "config:0\n");
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  std::filesystem::path folder_;
};

TEST_F(UprobePmuFiles, type_and_bits_are_those_of_the_kernel) {
  write("format/ref_ctr_offset", "config:32-63\n");
  const auto pmu = UprobePmu::open_in(folder_);
  ASSERT_TRUE(pmu.ok());
  const auto attr = pmu.value().attr_for(
      {.path = "/lib/x", .file_offset = 16, .is_return = true, .ref_ctr_offset = 0x20});
  ASSERT_TRUE(attr.ok());
  EXPECT_EQ(attr.value().type, 8U);
  EXPECT_EQ(attr.value().config, 0x2000000001U);
  EXPECT_EQ(attr.value().file_offset, 16U);
  const UprobeAttr copy = attr.value();
  EXPECT_STREQ(reinterpret_cast<const char*>(copy.config1()), "/lib/x");
}

TEST_F(UprobePmuFiles, semaphores_are_refused_where_the_kernel_has_none) {
  const auto pmu = UprobePmu::open_in(folder_);
  ASSERT_TRUE(pmu.ok());
  EXPECT_TRUE(pmu.value().attr_for({.path = "/lib/x"}).ok());
  const auto refused = pmu.value().attr_for({.path = "/lib/x", .ref_ctr_offset = 32});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().hint.find("8.1"), std::string::npos);  // true of uprobe_events only
}

TEST_F(UprobePmuFiles, semaphore_that_does_not_fit_its_field_is_refused) {
  write("format/ref_ctr_offset", "config:32-63\n");
  const auto pmu = UprobePmu::open_in(folder_);
  ASSERT_TRUE(pmu.ok());
  EXPECT_TRUE(pmu.value().attr_for({.path = "/x", .ref_ctr_offset = 0xFFFFFFFFU}).ok());
  EXPECT_FALSE(pmu.value().attr_for({.path = "/x", .ref_ctr_offset = 0x100000020U}).ok());
}

TEST_F(UprobePmuFiles, kernel_without_the_pmu_is_told) {
  const auto pmu = UprobePmu::open_in(folder_ / "none");
  ASSERT_FALSE(pmu.ok());
  EXPECT_NE(pmu.error().hint.find("4.17"), std::string::npos);
}

}  // namespace
}  // namespace memtrace
