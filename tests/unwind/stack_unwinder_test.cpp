// The unwinder on the test program's own stack: the truth is what the compiler's run-time library
// finds, as it does for exceptions.
#include "unwind/stack_unwinder.h"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "decode/event_decoder.h"
#include "perf/live/overload.h"
#include "support/own_mappings.h"
#include "support/sanitized.h"
#include "unwind/sampled_registers.h"
#include "unwind/user_stacks.h"

#ifdef __x86_64__

extern "C" void* __libc_stack_end;  // glibc: where the program's stack began

namespace memtrace::stack_unwinder_test {
namespace {

constexpr std::uint32_t kPid = 77;
constexpr std::uint64_t kMask = 0xff01ff;  // ax bx cx dx si di bp sp ip, r8 to r15
constexpr std::size_t kRegisters = 17;
constexpr std::size_t kIp = 8, kSp = 7, kBp = 6;

// A place in the program with its registers and stack, as a sample would have them.
struct Snapshot {
  std::array<std::uint64_t, kRegisters> registers{};
  std::vector<std::byte> stack;
  std::vector<std::uint64_t> callers;  // by the run-time library

  Sample sample(std::span<const std::uint64_t> chain = {}) const {
    return {.pid = kPid,
            .tid = kPid,
            .callchain = chain,
            .registers = {.abi = 2, .mask = kMask, .values = registers},
            .user_stack = stack};
  }
};

Snapshot* current = nullptr;

// Must not be left before it has copied the stack: what is below its own frame changes.
[[gnu::noinline]] void take_registers(Snapshot& snapshot) {
  auto& r = snapshot.registers;
  asm volatile(
      "movq %%rbx, 8(%0)\n\t"
      "movq %%rbp, 48(%0)\n\t"
      "movq %%rsp, 56(%0)\n\t"
      "leaq (%%rip), %%rax\n\t"
      "movq %%rax, 64(%0)\n\t"
      "movq %%r12, 104(%0)\n\t"
      "movq %%r13, 112(%0)\n\t"
      "movq %%r14, 120(%0)\n\t"
      "movq %%r15, 128(%0)"
      :
      : "r"(r.data())
      : "rax", "memory");
  constexpr std::size_t kStackBytes = 8192;
  const std::size_t used_bytes = reinterpret_cast<std::uint64_t>(__libc_stack_end) - r[kSp];
  snapshot.stack.resize(std::min(kStackBytes, used_bytes));
  // The kernel copies the stack, as for a sample. AddressSanitizer refuses memcpy(3) across frames.
  const iovec own{.iov_base = reinterpret_cast<void*>(r[kSp]), .iov_len = snapshot.stack.size()};
  const iovec copy{.iov_base = snapshot.stack.data(), .iov_len = snapshot.stack.size()};
  const ssize_t copied_bytes = ::process_vm_readv(::getpid(), &copy, 1, &own, 1, 0);
  EXPECT_EQ(copied_bytes, static_cast<ssize_t>(snapshot.stack.size()));
  std::array<void*, 100> found{};
  const int count = ::backtrace(found.data(), static_cast<int>(found.size()));
  // A sanitizer's backtrace(3) has a frame more.
  const auto own_end = found.begin() + count;
  for (auto at = std::find(found.begin(), own_end, __builtin_return_address(0)); at != own_end;
       ++at) {
    snapshot.callers.push_back(reinterpret_cast<std::uint64_t>(*at));
  }
}

[[gnu::noinline]] int call_deeper(Snapshot& snapshot, int depth) {
  volatile int room[16] = {depth};
  if (depth > 0) {
    return call_deeper(snapshot, depth - 1) + room[0];
  }
  take_registers(snapshot);
  return room[0];
}

[[gnu::noinline]] int compare_and_look(const void*, const void*) {
  if (current->stack.empty()) {
    call_deeper(*current, 3);
  }
  return 0;
}

class StackUnwinderTest : public testing::Test {
 protected:
  // This program's mappings are those of process kPid.
  StackUnwinderTest() { apply_own_mappings(feed_, kPid); }

  void map(std::uint64_t start, const std::string& path) {
    feed_.apply({.payload = Mmap{.pid = kPid, .start = start, .length_bytes = 4096, .path = path}});
  }

  // The user frames behind the first, which is the instruction that took the registers.
  std::vector<std::uint64_t> callers(const Sample& sample) {
    const auto chain = unwinder_.unwind(sample);
    const auto user = std::find(chain.begin(), chain.end(), kContextUser);
    if (user == chain.end()) {
      return {};
    }
    EXPECT_EQ(*(user + 1), sample.registers.values[kIp]);
    return {user + 2, chain.end()};
  }

  World world_{{}};
  Recording recording_;
  EventDecoder feed_{world_, recording_};
  StackUnwinder unwinder_{world_};
};

// The stack's outer end may lie behind the copy.
void expect_same(const std::vector<std::uint64_t>& found, std::vector<std::uint64_t> truth) {
  ASSERT_GE(found.size(), 10U);
  ASSERT_GE(truth.size(), found.size());
  truth.resize(found.size());
  EXPECT_EQ(found, truth);
}

TEST_F(StackUnwinderTest, finds_the_callers_that_the_runtime_library_finds) {
  Snapshot snapshot;
  call_deeper(snapshot, 6);
  expect_same(callers(snapshot.sample()), snapshot.callers);
}

TEST_F(StackUnwinderTest, goes_through_a_callback_of_libc) {
  Snapshot snapshot;
  current = &snapshot;
  std::array<int, 2> numbers = {2, 1};
  std::qsort(numbers.data(), numbers.size(), sizeof(int), compare_and_look);
  expect_same(callers(snapshot.sample()), snapshot.callers);
}

TEST_F(StackUnwinderTest, goes_through_a_signal_handler) {
  Snapshot snapshot;
  current = &snapshot;
  std::signal(SIGUSR2, [](int) { call_deeper(*current, 2); });
  ::raise(SIGUSR2);
  std::signal(SIGUSR2, SIG_DFL);
  expect_same(callers(snapshot.sample()), snapshot.callers);
}

TEST_F(StackUnwinderTest, kernel_part_and_markers_stay) {
  Snapshot snapshot;
  call_deeper(snapshot, 1);
  const std::array<std::uint64_t, 2> kernel = {kContextKernel, 0xffffffff81000010U};
  const auto chain = unwinder_.unwind(snapshot.sample(kernel));
  ASSERT_GT(chain.size(), 4U);
  EXPECT_EQ(chain[0], kernel[0]);
  EXPECT_EQ(chain[1], kernel[1]);
  EXPECT_EQ(chain[2], kContextUser);
  EXPECT_EQ(chain[3], snapshot.registers[kIp]);
}

TEST_F(StackUnwinderTest, short_copy_gives_the_inner_frames_and_is_told) {
  Snapshot snapshot;
  call_deeper(snapshot, 20);
  snapshot.stack.resize(test::kIsSanitized ? 4096 : 2048);  // its frames are larger
  const auto found = callers(snapshot.sample());
  ASSERT_GE(found.size(), 3U);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), snapshot.callers.begin()));
  EXPECT_EQ(unwinder_.last_end(), StackEnd::TooShort);
  ASSERT_EQ(unwinder_.caveats().size(), 1U);
  EXPECT_EQ(unwinder_.caveats()[0],
            "1 of 1 user stacks end early: they are larger than the " +
                std::string(test::kIsSanitized ? "4.0" : "2.0") +
                " KiB that were copied of each (--call-graph dwarf,BYTES copies more)");
  snapshot.stack.resize(kCutStackBytes);
  (void)callers(snapshot.sample());
  EXPECT_EQ(unwinder_.caveats().at(1),
            "1 of 2 user stacks end early: memtrace had fallen behind and cut them short");
}

// 5.10 with PREEMPT_RT: registers, and a copy of no bytes.
TEST_F(StackUnwinderTest, copy_of_nothing_is_told_as_such) {
  Snapshot snapshot;
  call_deeper(snapshot, 3);
  snapshot.stack.clear();
  EXPECT_TRUE(callers(snapshot.sample()).empty());
  EXPECT_EQ(unwinder_.last_end(), StackEnd::NotCopied);
  ASSERT_EQ(unwinder_.caveats().size(), 1U);
  EXPECT_EQ(unwinder_.caveats()[0],
            "1 of 1 user stacks end early: the kernel copied nothing of them (--call-graph fp lets "
            "it follow frame pointers)");
}

// Its registers have other numbers.
TEST_F(StackUnwinderTest, stack_of_another_kind_of_machine_is_not_unwound_and_told) {
  Snapshot snapshot;
  call_deeper(snapshot, 3);
  const std::array<std::uint64_t, 2> kernel = {kContextKernel, 0xffffffff81000010U};
  unwinder_.set_machine("ppc64le");
  EXPECT_EQ(unwinder_.unwind(snapshot.sample(kernel)).data(), kernel.data());
  EXPECT_EQ(unwinder_.last_end(), StackEnd::Foreign);
  ASSERT_EQ(unwinder_.caveats().size(), 1U);
  EXPECT_NE(unwinder_.caveats()[0].find("on a machine of kind ppc64le"), std::string::npos);
  unwinder_.set_machine("x86_64");
  EXPECT_NE(unwinder_.unwind(snapshot.sample(kernel)).data(), kernel.data());
}

TEST_F(StackUnwinderTest, kernel_thread_keeps_its_callchain) {
  const std::array<std::uint64_t, 2> kernel = {kContextKernel, 0xffffffff81000010U};
  const Sample sample{.pid = kPid, .callchain = kernel, .registers = {.abi = 0, .mask = kMask}};
  EXPECT_EQ(unwinder_.unwind(sample).data(), kernel.data());
  EXPECT_EQ(unwinder_.counts().stacks, 0U);
}

TEST_F(StackUnwinderTest, program_of_32_bits_keeps_its_callchain_and_is_told) {
  Snapshot snapshot;
  call_deeper(snapshot, 1);
  Sample sample = snapshot.sample();
  sample.registers.abi = 1;
  EXPECT_TRUE(unwinder_.unwind(sample).empty());
  EXPECT_EQ(unwinder_.counts().of(StackEnd::NoRegisters), 1U);
}

// A stack made by hand: words from the stack pointer upwards, and code where the CFI does not
// reach.
class HandMadeStackTest : public StackUnwinderTest {
 protected:
  static constexpr std::uint64_t kJit = 0x10000000;
  static constexpr std::uint64_t kStack = 0x7fff0000;

  Sample sample_in_jit(std::uint64_t frame_pointer) {
    snapshot_.registers[kIp] = kJit + 16;
    snapshot_.registers[kSp] = kStack;
    snapshot_.registers[kBp] = frame_pointer;
    const auto bytes = std::as_bytes(std::span(words_));
    snapshot_.stack.assign(bytes.begin(), bytes.end());
    return snapshot_.sample();
  }

  // Two frames of the JIT, linked by frame pointers; then the end.
  std::array<std::uint64_t, 6> words_ = {0, 0, kStack + 32, kJit + 100, 0, 0};
  Snapshot snapshot_;
};

TEST_F(HandMadeStackTest, code_made_at_run_time_is_followed_by_frame_pointers) {
  map(kJit, "//anon");
  EXPECT_EQ(callers(sample_in_jit(kStack + 16)), std::vector<std::uint64_t>{kJit + 100});
  EXPECT_EQ(unwinder_.last_end(), StackEnd::Complete);
}

TEST_F(HandMadeStackTest, frame_pointer_that_leads_nowhere_ends_the_stack) {
  map(kJit, "//anon");
  EXPECT_TRUE(callers(sample_in_jit(0x1234)).empty());
  EXPECT_EQ(unwinder_.last_end(), StackEnd::WithoutRules);
  words_[3] = 0x999;  // no code
  EXPECT_TRUE(callers(sample_in_jit(kStack + 16)).empty());
  EXPECT_EQ(unwinder_.last_end(), StackEnd::WithoutRules);
  EXPECT_EQ(unwinder_.caveats()[0],
            "2 of 2 user stacks end early: at code without unwind information (in anon 2)");
}

// The kernel's page has no name on 3.10 and RHEL 7.
TEST_F(HandMadeStackTest, caller_behind_a_return_probe_is_asked_for) {
  map(kJit, "//anon");
  words_[3] = 0x20000000;
  for (const char* name : {"[uprobes]", "//anon"}) {
    words_[3] += 0x1000000;
    map(words_[3], name);
    unwinder_.set_pending_returns(nullptr);
    EXPECT_TRUE(callers(sample_in_jit(kStack + 16)).empty()) << name;
    EXPECT_EQ(unwinder_.last_end(), StackEnd::Trampoline) << name;
    unwinder_.set_pending_returns([](std::uint32_t tid, std::uint64_t slot) {
      EXPECT_EQ(tid, kPid);
      EXPECT_EQ(slot, kStack + 24);
      return std::optional<std::uint64_t>(kJit + 100);
    });
    EXPECT_EQ(callers(sample_in_jit(kStack + 16)), std::vector<std::uint64_t>{kJit + 100}) << name;
  }
}

TEST_F(HandMadeStackTest, loop_of_frame_pointers_ends) {
  map(kJit, "//anon");
  words_[2] = kStack + 16;  // points to itself
  EXPECT_EQ(callers(sample_in_jit(kStack + 16)).size(), 1U);
  EXPECT_EQ(unwinder_.last_end(), StackEnd::WithoutRules);
}

TEST_F(HandMadeStackTest, chain_that_has_a_user_part_is_only_repaired) {
  map(kJit, "//anon");
  UserStacks stacks(world_);
  const std::array<std::uint64_t, 3> chain = {kContextUser, kJit + 16, kJit + 50};
  Sample sample = sample_in_jit(kStack + 16);
  sample.callchain = chain;
  EXPECT_EQ(stacks.complete(sample).size(), 3U);
  EXPECT_EQ(stacks.unwinder().counts().stacks, 0U);
}

TEST(SampledRegistersTest, perfs_order_becomes_dwarfs) {
  std::array<std::uint64_t, kRegisters> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 100 + i;
  }
  const RegisterFile registers = sampled_registers({.abi = 2, .mask = kMask, .values = values});
  EXPECT_EQ(registers[0], 100U);   // ax
  EXPECT_EQ(registers[3], 101U);   // bx
  EXPECT_EQ(registers[1], 103U);   // dx
  EXPECT_EQ(registers[7], 107U);   // sp
  EXPECT_EQ(registers[16], 108U);  // ip
  EXPECT_EQ(registers[8], 109U);   // r8
  EXPECT_EQ(registers[15], 116U);  // r15
  EXPECT_FALSE(sampled_registers({.abi = 0, .mask = kMask}).has(7));
}

}  // namespace
}  // namespace memtrace::stack_unwinder_test

#endif
