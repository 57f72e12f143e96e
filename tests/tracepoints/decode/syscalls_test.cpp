// System calls, by formats as the kernel gives them.
#include <gtest/gtest.h>

#include <array>

#include "tracepoints/decode/catalogue.h"
#include "tracepoints/format/format.h"

namespace memtrace::syscalls_test {
namespace {

constexpr const char* kCommon =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n";

EventType type_of(const std::string& name, const std::string& fields) {
  EventType type;
  type.name = "syscalls:" + name;
  const std::string text =
      "name: " + name + "\nID: 7\nformat:\n" + kCommon + fields + "\nprint fmt: \"\"\n";
  auto format = parse_format(text, "syscalls");
  EXPECT_TRUE(format.ok());
  type.format = format.take();
  return type;
}

std::string field(const std::string& declaration, int offset_bytes) {
  return "\tfield:" + declaration + ";\toffset:" + std::to_string(offset_bytes) +
         ";\tsize:8;\tsigned:0;\n";
}

RawPayload decode(const EventType& type, const std::array<std::uint64_t, 8>& words) {
  auto decoder = decoder_for(type);
  EXPECT_TRUE(decoder.ok());
  return decoder.value()({.raw = std::as_bytes(std::span(words))});
}

TEST(SystemCalls, an_entry_has_its_arguments_in_the_order_of_the_parameters) {
  const auto payload =
      decode(type_of("sys_enter_mmap",
                     field("unsigned long addr", 16) + field("unsigned long len", 24) +
                         field("unsigned long prot", 32) + field("unsigned long flags", 40) +
                         field("unsigned long fd", 48) + field("unsigned long off", 56)),
             {0, 9, 0x1000, 4096, 3, 0x22, 5, 8192});
  const auto& entry = std::get<SystemCallEntry>(payload);
  EXPECT_EQ(entry.call, SystemCall::Mmap);
  EXPECT_EQ(entry.arguments, (SystemCallArguments{0x1000, 4096, 3, 0x22, 5, 8192}));
}

TEST(SystemCalls, fields_are_found_by_name_wherever_they_are) {
  const auto payload =
      decode(type_of("sys_enter_munmap", field("size_t len", 16) + field("unsigned long addr", 24)),
             {0, 11, 4096, 0x1000});
  EXPECT_EQ(std::get<SystemCallEntry>(payload).arguments, (SystemCallArguments{0x1000, 4096}));
}

TEST(SystemCalls, a_parameter_may_have_been_renamed) {
  for (const char* name : {"size_t len_in", "size_t len"}) {
    const auto payload = decode(
        type_of("sys_enter_madvise",
                field("unsigned long start", 16) + field(name, 24) + field("int behavior", 32)),
        {0, 28, 0x1000, 4096, 4});
    EXPECT_EQ(std::get<SystemCallEntry>(payload).arguments, (SystemCallArguments{0x1000, 4096, 4}));
  }
}

TEST(SystemCalls, a_format_without_a_parameter_is_told) {
  const auto decoder = decoder_for(type_of("sys_enter_munmap", field("unsigned long addr", 16)));
  ASSERT_FALSE(decoder.ok());
  EXPECT_NE(decoder.error().message.find("'len'"), std::string::npos);
}

TEST(SystemCalls, one_without_arguments_is_an_entry_too) {
  const auto payload = decode(type_of("sys_enter_vfork", ""), {0, 58});
  EXPECT_EQ(std::get<SystemCallEntry>(payload).call, SystemCall::Vfork);
}

TEST(SystemCalls, exits_have_a_result_that_may_be_an_error) {
  const EventType type =
      type_of("sys_exit_brk", "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n");
  const auto failed = decode(type, {0, 12, static_cast<std::uint64_t>(-12)});
  EXPECT_EQ(std::get<SystemCallExit>(failed).call, SystemCall::Brk);
  EXPECT_EQ(std::get<SystemCallExit>(failed).result, -12);
}

TEST(SystemCalls, only_the_last_4095_results_are_errors) {
  EXPECT_EQ((SystemCallDone{.result = -12}.error()), 12);
  EXPECT_EQ((SystemCallDone{.result = 0}.error()), 0);
  EXPECT_FALSE((SystemCallDone{.result = -4096}.failed()));
}

TEST(SystemCalls, a_sample_that_is_too_short_is_malformed) {
  const EventType type = type_of("sys_enter_brk", field("unsigned long brk", 16));
  auto decoder = decoder_for(type);
  ASSERT_TRUE(decoder.ok());
  const std::array<std::uint64_t, 2> words{};
  EXPECT_TRUE(std::holds_alternative<std::monostate>(
      decoder.value()({.raw = std::as_bytes(std::span(words))})));
}

// raw_syscalls:sys_enter and sys_exit, as every kernel has them behind its common fields.
EventType raw_type(const std::string& name, const std::string& fields) {
  EventType type;
  type.name = name;
  const std::string text =
      "name: sys\nID: 7\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
      "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n" +
      fields + "\nprint fmt: \"\"\n";
  auto format = parse_format(text, "raw_syscalls");
  EXPECT_TRUE(format.ok());
  type.format = format.take();
  return type;
}

constexpr const char* kRawArguments =
    "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n";
constexpr const char* kRawResult = "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n";

TEST(SystemCalls, a_raw_entry_is_known_by_its_number_under_both_names_of_the_event) {
  for (const char* name : {"raw_syscalls:sys_enter", "syscalls:sys_enter"}) {
    const auto payload = decode(raw_type(name, kRawArguments), {0, 9, 1, 2, 3, 4, 5, 6});
    const auto& entry = std::get<SystemCallEntry>(payload);
    EXPECT_EQ(entry.call, SystemCall::Mmap);
    EXPECT_EQ(entry.arguments, (SystemCallArguments{1, 2, 3, 4, 5, 6}));
  }
}

TEST(SystemCalls, a_raw_exit_has_its_result) {
  const auto payload = decode(raw_type("raw_syscalls:sys_exit", kRawResult),
                              {0, 12, static_cast<std::uint64_t>(-12)});
  const auto& ended = std::get<SystemCallExit>(payload);
  EXPECT_EQ(ended.call, SystemCall::Brk);
  EXPECT_EQ(ended.result, -12);
}

TEST(SystemCalls, numbers_are_those_of_the_architecture_that_recorded) {
  EventType type = raw_type("raw_syscalls:sys_enter", kRawArguments);
  type.format.architecture = "aarch64";
  EXPECT_EQ(std::get<SystemCallEntry>(decode(type, {0, 222})).call, SystemCall::Mmap);
  EXPECT_EQ(std::get<SystemCallEntry>(decode(type, {0, 9})).call, SystemCall::Other);
  type.format.architecture = "s390x";
  EXPECT_EQ(std::get<SystemCallEntry>(decode(type, {0, 222})).call, SystemCall::Other);
}

// id is -1 where there is no call any more, and arm64 has no fork.
TEST(SystemCalls, a_number_that_is_none_is_no_known_call) {
  EventType type = raw_type("raw_syscalls:sys_exit", kRawResult);
  for (const char* architecture : {"x86_64", "aarch64"}) {
    type.format.architecture = architecture;
    EXPECT_EQ(std::get<SystemCallExit>(decode(type, {0, ~std::uint64_t{0}})).call,
              SystemCall::Other);
  }
}

TEST(SystemCalls, a_raw_entry_without_all_its_arguments_is_malformed) {
  const auto decoder = decoder_for(raw_type("raw_syscalls:sys_enter", kRawArguments));
  ASSERT_TRUE(decoder.ok());
  const std::array<std::uint64_t, 7> cut = {0, 9, 1, 2, 3, 4, 5};
  EXPECT_TRUE(std::holds_alternative<std::monostate>(
      decoder.value()({.raw = std::as_bytes(std::span(cut))})));
}

}  // namespace
}  // namespace memtrace::syscalls_test
