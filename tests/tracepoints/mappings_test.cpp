// System calls that change an address space, by formats as the kernel gives them.
#include <gtest/gtest.h>

#include <array>

#include "tracepoints/format.h"
#include "tracepoints/tracepoint.h"

namespace memtrace {
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

EventPayload decode(const EventType& type, const std::array<std::uint64_t, 8>& words) {
  auto decoder = decoder_for(type);
  EXPECT_TRUE(decoder.ok());
  return decoder.value()({.raw = std::as_bytes(std::span(words))});
}

TEST(Mappings, mmap_has_its_length_protection_and_flags) {
  const auto payload =
      decode(type_of("sys_enter_mmap",
                     field("unsigned long addr", 16) + field("unsigned long len", 24) +
                         field("unsigned long prot", 32) + field("unsigned long flags", 40)),
             {0, 9, 0x1000, 4096, 3, 0x22});
  const auto& call = std::get<MapCall>(payload);
  EXPECT_EQ(call.op, MapOp::Map);
  EXPECT_EQ(call.address, 0x1000U);
  EXPECT_EQ(call.bytes, 4096U);
  EXPECT_EQ(call.protection, 3U);
  EXPECT_EQ(call.flags, 0x22U);
}

TEST(Mappings, others_have_what_they_take) {
  const auto protect = decode(type_of("sys_enter_mprotect",
                                      field("unsigned long start", 16) + field("size_t len", 24) +
                                          field("unsigned long prot", 32)),
                              {0, 10, 0x1000, 4096, 1});
  EXPECT_EQ(std::get<MapCall>(protect).protection, 1U);
  const auto remap =
      decode(type_of("sys_enter_mremap",
                     field("unsigned long addr", 16) + field("unsigned long old_len", 24) +
                         field("unsigned long new_len", 32) + field("unsigned long flags", 40)),
             {0, 25, 0x1000, 4096, 8192, 1});
  EXPECT_EQ(std::get<MapCall>(remap).new_bytes, 8192U);
  const auto top = decode(type_of("sys_enter_brk", field("unsigned long brk", 16)), {0, 12, 64});
  EXPECT_EQ(std::get<MapCall>(top).address, 64U);
}

TEST(Mappings, exits_have_a_result_that_may_be_an_error) {
  const EventType type =
      type_of("sys_exit_brk", "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n");
  const auto failed = decode(type, {0, 12, static_cast<std::uint64_t>(-12)});
  EXPECT_EQ(std::get<MapReturn>(failed).op, MapOp::Break);
  EXPECT_EQ(std::get<MapReturn>(failed).result, -12);
}

TEST(Mappings, a_sample_that_is_too_short_is_malformed) {
  const EventType type = type_of("sys_enter_brk", field("unsigned long brk", 16));
  auto decoder = decoder_for(type);
  ASSERT_TRUE(decoder.ok());
  const std::array<std::uint64_t, 2> words{};
  EXPECT_TRUE(std::holds_alternative<std::monostate>(
      decoder.value()({.raw = std::as_bytes(std::span(words))})));
}

}  // namespace
}  // namespace memtrace
