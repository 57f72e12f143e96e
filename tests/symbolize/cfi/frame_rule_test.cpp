#include "symbolize/cfi/frame_rule.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "support/own_code.h"

namespace memtrace {
namespace {

[[gnu::noinline]] int plain_function(int value) {
  asm volatile("" : "+r"(value));
  return value + 1;
}

#ifdef __x86_64__

bool saves(const FullFrameRule& rule, std::uint8_t number) {
  return std::any_of(rule.saved.begin(), rule.saved.end(), [number](const auto& saved) {
    return saved.first == number;
  });
}

void expect_entry_rule(const std::optional<FrameRule>& rule) {
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->kind, FrameRule::Kind::Simple);
  EXPECT_EQ(rule->cfa_register, kX86Registers.stack_pointer);
  EXPECT_EQ(rule->cfa_offset_bytes, 8);
  EXPECT_EQ(rule->ra_offset_bytes, -8);
  EXPECT_EQ(rule->fp_offset_bytes, FrameRule::kInRegister);
}

TEST(FrameRules, return_address_is_on_top_of_the_stack_at_a_functions_entry) {
  const auto place = mapped_place(address_of(&plain_function));
  const auto rules = FrameRules::open(place.path);
  ASSERT_NE(rules, nullptr);
  expect_entry_rule(rules->at(place.file_offset));
  expect_entry_rule(rules->at(place.file_offset));  // now out of the cache
}

#ifndef __clang__  // which has no attribute that keeps the frame pointer of one function

// Its frame pointer is pushed and made the base, so all three kinds of rules lie in its first
// instructions: push (1 byte, after endbr64's 4 with CET), mov (3 bytes), then the body.
[[gnu::noinline, gnu::optimize("no-omit-frame-pointer")]] int framed_function(int value) {
  asm volatile("" : "+r"(value) : : "memory");
  return plain_function(value) + 2;
}

std::uint64_t skip_endbr64(std::uint64_t avma) {
  const auto* code = reinterpret_cast<const unsigned char*>(avma);
  return code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e ? avma + 4 : avma;
}

TEST(FrameRules, follow_the_push_of_the_frame_pointer) {
  const auto place = mapped_place(skip_endbr64(address_of(&framed_function)));
  const auto rules = FrameRules::open(place.path);
  ASSERT_NE(rules, nullptr);
  const auto pushed = rules->at(place.file_offset + 1);
  ASSERT_TRUE(pushed);
  EXPECT_EQ(pushed->cfa_register, kX86Registers.stack_pointer);
  EXPECT_EQ(pushed->cfa_offset_bytes, 16);
  EXPECT_EQ(pushed->fp_offset_bytes, -16);
  const auto based = rules->at(place.file_offset + 4);
  ASSERT_TRUE(based);
  EXPECT_EQ(based->cfa_register, kX86Registers.frame_pointer);
  EXPECT_EQ(based->cfa_offset_bytes, 16);
  EXPECT_EQ(based->ra_offset_bytes, -8);
}

#endif

TEST(FrameRules, libc_functions_have_them_too) {
  const auto place = mapped_place(address_of(::dlsym(RTLD_DEFAULT, "getppid")));
  const auto rules = FrameRules::open(place.path);
  ASSERT_NE(rules, nullptr);
  expect_entry_rule(rules->at(place.file_offset));
}

TEST(FrameRules, full_rule_names_the_stack_pointer_and_the_return_address) {
  const auto place = mapped_place(address_of(&plain_function));
  const auto rules = FrameRules::open(place.path);
  ASSERT_NE(rules, nullptr);
  const FullFrameRule* rule = rules->full_at(place.file_offset);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule, rules->full_at(place.file_offset));
  EXPECT_FALSE(rule->is_signal_frame);
  EXPECT_EQ(rule->return_address, kX86Registers.program_counter);
  EXPECT_TRUE(saves(*rule, kX86Registers.program_counter));
  EXPECT_TRUE(saves(*rule, kX86Registers.stack_pointer));
  EXPECT_FALSE(saves(*rule, kX86Registers.frame_pointer)) << "it is as it was";
  EXPECT_FALSE(rule->cfa.empty());
}

// What a signal handler returns to; libc gives its address to the kernel (sigaction(2),
// SA_RESTORER). The byte before, because nothing has called it.
std::uint64_t address_of_sigreturn() {
  struct sigaction action {};

  action.sa_handler = [](int) {};
  ::sigaction(SIGUSR2, &action, nullptr);

  struct kernel_sigaction {
    void* handler = nullptr;
    unsigned long flags = 0;
    std::uint64_t restorer = 0;
    unsigned long mask = 0;
  } installed;

  ::syscall(SYS_rt_sigaction, SIGUSR2, nullptr, &installed, sizeof(installed.mask));
  ::signal(SIGUSR2, SIG_DFL);
  return installed.restorer;
}

TEST(FrameRules, signal_frame_is_told_from_a_call) {
  const auto place = mapped_place(address_of_sigreturn());
  const auto rules = FrameRules::open(place.path);
  ASSERT_NE(rules, nullptr);
  for (const std::uint64_t before : {0U, 1U}) {
    const auto rule = rules->at(place.file_offset - before);
    ASSERT_TRUE(rule);
    EXPECT_EQ(rule->kind, FrameRule::Kind::Full);
    const FullFrameRule* full = rules->full_at(place.file_offset - before);
    ASSERT_NE(full, nullptr);
    EXPECT_TRUE(full->is_signal_frame);
    EXPECT_TRUE(saves(*full, kX86Registers.frame_pointer));
  }
}

TEST(FrameRules, vdso_has_rules) {
  const auto rules = FrameRules::open({.kind = ModuleKind::Vdso}, {});
  ASSERT_NE(rules, nullptr);
  void* vdso = ::dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* function = vdso == nullptr ? nullptr : ::dlsym(vdso, "__vdso_clock_gettime");
  if (function == nullptr) {
    GTEST_SKIP() << "this process has no vdso";
  }
  expect_entry_rule(rules->at(address_of(function) - ::getauxval(AT_SYSINFO_EHDR)));
}

extern "C" void _start();

TEST(FrameRules, start_of_the_program_has_no_caller) {
  const auto place = mapped_place(address_of(&_start));
  const auto rules = FrameRules::open(place.path);
  ASSERT_NE(rules, nullptr);
  const auto rule = rules->at(place.file_offset);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->kind, FrameRule::Kind::Outermost);
}

#endif

TEST(FrameRules, offset_without_code_has_none) {
  const auto rules = FrameRules::open("/proc/self/exe");
  ASSERT_NE(rules, nullptr);
  EXPECT_FALSE(rules->at(0));
  EXPECT_FALSE(rules->at(~std::uint64_t{0}));
  EXPECT_NE(plain_function(1), 1);
}

TEST(FrameRules, what_is_no_elf_file_has_none) {
  const TemporaryFolder folder;
  EXPECT_EQ(FrameRules::open("/nonexistent"), nullptr);
  EXPECT_EQ(FrameRules::open(folder.write("text", "plain text")), nullptr);
}

}  // namespace
}  // namespace memtrace
