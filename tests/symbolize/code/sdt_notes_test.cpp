#include "symbolize/code/sdt_notes.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/own_code.h"

namespace memtrace {
namespace {

std::optional<std::int64_t> place_of(std::string_view symbol) {
  return symbol == "mp_" ? std::optional(std::int64_t{0x4000}) : std::nullopt;
}

std::string fetch(std::string_view operand) {
  const auto arguments = parse_sdt_arguments(operand, place_of);
  return arguments.size() == 1 ? arguments[0].fetch : "not one argument";
}

TEST(sdt_arguments, registers_of_all_widths) {
  EXPECT_EQ(fetch("8@%rdi"), "%di:u64");
  EXPECT_EQ(fetch("-4@%esi"), "%si:s32");
  EXPECT_EQ(fetch("-2@%cx"), "%cx:s16");
  EXPECT_EQ(fetch("-1@%dl"), "%dx:s8");
  EXPECT_EQ(fetch("1@%sil"), "%si:u8");
  EXPECT_EQ(fetch("4@%r8d"), "%r8:u32");
  EXPECT_EQ(fetch("1@%r15b"), "%r15:u8");
  EXPECT_EQ(fetch("8@%rbp"), "%bp:u64");
}

TEST(sdt_arguments, memory_behind_a_register) {
  EXPECT_EQ(fetch("8@16(%rdi)"), "+16(%di):u64");
  EXPECT_EQ(fetch("-8@-24(%rbp)"), "-24(%bp):s64");
  EXPECT_EQ(fetch("4@(%rax)"), "+0(%ax):u32");
}

TEST(sdt_arguments, constants) {
  EXPECT_EQ(fetch("-4@$7"), "\\7:s32");
  EXPECT_EQ(fetch("-8@$-3"), "\\-3:s64");
  EXPECT_EQ(fetch("8@$0x10"), "\\16:u64");
  EXPECT_EQ(fetch("8@$18446744073709551615"), "\\18446744073709551615:u64");
  EXPECT_EQ(fetch("8@$0x8000000000000000"), "\\9223372036854775808:u64");
  EXPECT_EQ(fetch("-8@$-9223372036854775808"), "\\-9223372036854775808:s64");
  EXPECT_EQ(fetch("-8@$-9223372036854775809"), "");
  EXPECT_EQ(fetch("8@18446744073709551615(%rdi)"), "");
}

TEST(sdt_arguments, globals_by_their_place_in_the_file) {
  EXPECT_EQ(fetch("8@mp_(%rip)"), "@+16384:u64");
  EXPECT_EQ(fetch("8@mp_+88(%rip)"), "@+16472:u64");
  EXPECT_EQ(fetch("8@88+mp_(%rip)"), "@+16472:u64");
  EXPECT_EQ(fetch("8@-8+mp_(%rip)"), "@+16376:u64");
  EXPECT_EQ(fetch("8@mp_"), "@+16384:u64");
  EXPECT_EQ(fetch("8@mp_+88"), "@+16472:u64");
  EXPECT_EQ(fetch("8@other"), "");
  EXPECT_EQ(fetch("8@other(%rip)"), "");
  EXPECT_EQ(fetch("8@16(%rip)"), "");
}

TEST(sdt_arguments, what_a_uprobe_cannot_fetch_is_empty_but_counted) {
  const auto arguments =
      parse_sdt_arguments("8@8(%rax,%rbx,8) 8@%ah 8f@%xmm0 8@%fs:16 nonsense 8@ 8@%rdi", place_of);
  ASSERT_EQ(arguments.size(), 7U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(arguments[i].fetch, "") << arguments[i].operand;
  }
  EXPECT_EQ(fetch_arguments({.arguments = arguments}), "arg7=%di:u64");
}

// The argument forms of glibc's memory_* probes: a register, a constant, a field of the global
// mp_, memory behind a register.
constexpr const char* kSource = R"(
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
unsigned short libc_memory_heap_new_semaphore __attribute__((section(".probes")));
unsigned short libc_memory_mallopt_semaphore __attribute__((section(".probes")));
static struct { long threshold[12]; int count; } mp_ = {{1}, 2};
void probe_heap(char *heap, unsigned long size, int value) {
  STAP_PROBE2(libc, memory_heap_new, heap, size);
  STAP_PROBE3(libc, memory_mallopt, -3, value, mp_.threshold[11]);
  mp_.count += value;
  mp_.threshold[11] += size;
}
)";

class SdtNotes : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("probes.c", kSource);
    const std::string command =
        "cc -O2 -fPIC -shared -o " + library() + " " + folder_.path("probes.c") + " 2>/dev/null";
    if (std::system(command.c_str()) != 0) {
      GTEST_SKIP() << "needs a C compiler and sys/sdt.h (systemtap-sdt-dev)";
    }
  }

  std::string library() const { return folder_.path("libprobes.so"); }

  TemporaryFolder folder_;
};

TEST_F(SdtNotes, probes_of_a_library_are_read_with_their_arguments) {
  const auto probes = read_sdt_probes(library());
  ASSERT_TRUE(probes.ok());
  ASSERT_EQ(probes.value().size(), 2U);
  const SdtProbe& heap = probes.value()[0];
  EXPECT_EQ(heap.provider, "libc");
  EXPECT_EQ(heap.name, "memory_heap_new");
  EXPECT_NE(heap.file_offset, 0U);
  EXPECT_EQ(fetch_arguments(heap), "arg1=%di:u64 arg2=%si:u64");
  const SdtProbe& option = probes.value()[1];
  ASSERT_EQ(option.arguments.size(), 3U);
  EXPECT_EQ(option.arguments[0].fetch, "\\-3:s32");
  EXPECT_EQ(option.arguments[1].fetch, "%dx:s32");
  EXPECT_TRUE(option.arguments[2].fetch.starts_with("@+") ||
              option.arguments[2].fetch.starts_with("%"))
      << option.arguments[2].operand;
}

TEST_F(SdtNotes, semaphores_are_file_offsets_of_their_own) {
  const auto probes = read_sdt_probes(library());
  ASSERT_TRUE(probes.ok());
  const auto first = probes.value().at(0).semaphore_file_offset;
  const auto second = probes.value().at(1).semaphore_file_offset;
  EXPECT_EQ(first > second ? first - second : second - first, 2U);
  // An address would differ: the linker puts data a page behind where it lies in the file.
  const std::string content = read_file(library()).take();
  ASSERT_LT(first + 2, content.size());
  EXPECT_EQ(content.substr(first, 2), std::string(2, '\0'));
}

// Two probes at one place, the first with a semaphore where the file has nothing.
constexpr const char* kLostSemaphore = R"(
void place(void) {}
#define NOTE(SEMAPHORE, NAME)                                                         \
  __asm__(".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"                     \
          ".4byte 2f-1f, 4f-3f, 3\n1: .asciz \"stapsdt\"\n2: .balign 4\n"            \
          "3: .8byte place\n.8byte 0\n.8byte " SEMAPHORE "\n"                         \
          ".asciz \"shop\"\n.asciz \"" NAME "\"\n.asciz \"\"\n4: .balign 4\n"         \
          ".popsection")
NOTE("0x7fff00000000", "never");
NOTE("0", "always");
)";

TEST_F(SdtNotes, probe_whose_semaphore_cannot_be_found_is_left_out) {
  folder_.write("lost.c", kLostSemaphore);
  const std::string library = folder_.path("liblost.so");
  ASSERT_EQ(std::system(("cc -fPIC -shared -o " + library + " " + folder_.path("lost.c")).c_str()),
            0);
  const auto probes = read_sdt_probes(library);
  ASSERT_TRUE(probes.ok());
  ASSERT_EQ(probes.value().size(), 1U);
  EXPECT_EQ(probes.value()[0].name, "always");
}

TEST_F(SdtNotes, stripped_library_loses_only_its_globals) {
  ASSERT_EQ(std::system(("strip " + library()).c_str()), 0);
  const auto probes = read_sdt_probes(library());
  ASSERT_TRUE(probes.ok());
  ASSERT_EQ(probes.value().size(), 2U);
  EXPECT_EQ(fetch_arguments(probes.value()[0]), "arg1=%di:u64 arg2=%si:u64");
}

TEST(sdt_notes, file_without_notes_has_no_probes) {
  const auto probes = read_sdt_probes("/proc/self/exe");
  ASSERT_TRUE(probes.ok());
  EXPECT_TRUE(probes.value().empty());
  EXPECT_FALSE(read_sdt_probes("/nowhere").ok());
}

}  // namespace
}  // namespace memtrace
