#include "unwind/in_ring_unwinder.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <bit>

#include "decode/event_decoder.h"
#include "perf/event/event_attr.h"
#include "unwind/stack_unwinder.h"

#ifdef __x86_64__

namespace memtrace::in_ring_unwinder_test {
namespace {

constexpr std::uint64_t kId = 5;
constexpr std::uint32_t kPid = 2;
constexpr std::uint64_t kSpace = 9;
constexpr std::uint64_t kCode = 0x400000;
constexpr std::uint64_t kCaller = 0x500000;
constexpr std::uint64_t kStack = 0x7fff0000;
constexpr std::size_t kStackBytes = 1024;

RecordParser dump_parser() {
  const EventRequest request{.info = {.name = "kmem:kmalloc", .kind = EventKind::Tracepoint},
                             .type = kTypeTracepoint};
  const AttrContext context{.call_graph = {.stack_bytes = kStackBytes}};
  RecordParser parser;
  parser.add_event(SampleLayout::of(make_attr(request, context)), std::vector{kId});
  return parser;
}

// In the layout of make_attr(): at kCode with the return address of kCaller on top of the stack.
std::vector<std::uint64_t> dump(const std::vector<std::uint64_t>& chain) {
  std::vector<std::uint64_t> words = {PERF_RECORD_SAMPLE, kId, kCode, 0x0000000300000002, 99, 0};
  words.push_back(chain.size());
  words.insert(words.end(), chain.begin(), chain.end());
  words.insert(words.end(), {12 | (std::uint64_t{0x11} << 32), 0x22});  // RAW of 12 bytes
  words.push_back(PERF_SAMPLE_REGS_ABI_64);
  const auto registers = static_cast<std::size_t>(std::popcount(general_registers()));
  std::vector<std::uint64_t> values(registers);
  values[7] = kStack;
  values[8] = kCode;
  words.insert(words.end(), values.begin(), values.end());
  words.insert(words.end(), {kStackBytes, kCaller});
  words.resize(words.size() + kStackBytes / 8 - 1);
  words.push_back(kStackBytes);
  words[0] |= words.size() * sizeof(std::uint64_t) << 48U;
  return words;
}

CodePlace plain() {
  CodePlace place{.where = CodePlace::Where::Code, .is_plain = true};
  place.rule = {.kind = FrameRule::Kind::Simple,
                .cfa_register = kHostRegisters.stack_pointer,
                .ra_offset_bytes = -8,
                .cfa_offset_bytes = 8};
  return place;
}

CodePlace outermost() {
  CodePlace place{.where = CodePlace::Where::Code};
  place.rule.kind = FrameRule::Kind::Outermost;
  return place;
}

class StackShrinkerTest : public testing::Test {
 protected:
  void learn_all() {
    shared_->spaces.enter(kPid, kSpace);
    shared_->rules.insert(kSpace, kCode, plain());
    shared_->rules.insert(kSpace, kCaller - 1, outermost());
  }

  std::size_t shrink(const std::vector<std::uint64_t>& words) {
    shrunk_.assign(words.size(), 0);
    return shrinker_.shrink(
        parser_, std::as_bytes(std::span(words)), std::as_writable_bytes(std::span(shrunk_)));
  }

  RecordParser parser_ = dump_parser();
  std::shared_ptr<SharedRules> shared_ = std::make_shared<SharedRules>();
  InRingUnwinder shrinker_{shared_};
  std::vector<std::uint64_t> shrunk_;
};

TEST_F(StackShrinkerTest, frames_take_the_place_of_the_copy_and_all_else_stays) {
  learn_all();
  const std::vector<std::uint64_t> kernel = {kContextKernel, 0xffffffff81000010U};
  const std::size_t size_bytes = shrink(dump(kernel));
  ASSERT_GT(size_bytes, 0U);
  EXPECT_LT(size_bytes, 200U);
  const auto record = parser_.parse(std::as_bytes(std::span(shrunk_)).first(size_bytes));
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record.value().stamp.time_ns, 99U);
  const auto& sample = std::get<Sample>(record.value().payload);
  EXPECT_EQ(sample.raw.size(), 12U);
  EXPECT_EQ(sample.raw[4], std::byte{0x22});
  EXPECT_EQ(shrunk_in_space(sample), kSpace);
  const std::vector<std::uint64_t> chain(sample.callchain.begin(), sample.callchain.end());
  EXPECT_EQ(chain, (std::vector{kernel[0], kernel[1], kContextUser, kCode, kCaller}));
}

TEST_F(StackShrinkerTest, what_is_not_known_yet_stays_as_it_is) {
  EXPECT_EQ(shrink(dump({})), 0U);
  shared_->spaces.enter(kPid, kSpace);
  shared_->rules.insert(kSpace, kCode, plain());
  EXPECT_EQ(shrink(dump({})), 0U);
  shared_->rules.insert(kSpace, kCaller - 1, outermost());
  EXPECT_GT(shrink(dump({})), 0U);
}

TEST_F(StackShrinkerTest, user_frames_that_the_kernel_found_stay) {
  learn_all();
  EXPECT_EQ(shrink(dump({kContextUser, kCode, kCaller})), 0U);
}

// The mappings of the process change while a shrunk record is under way.
class ShrunkRecordTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kJit = 0x10000000;

  void map(std::uint64_t start, const std::string& path) {
    feed_.apply({.payload = Mmap{.pid = kPid, .start = start, .length_bytes = 4096, .path = path}});
  }

  // Has the unwinder learn both frames by their stack: the space in which it did.
  std::uint64_t learn() {
    std::array<std::uint64_t, 17> registers{};
    registers[6] = kStack;  // frame pointer
    registers[7] = kStack;
    registers[8] = kChain[1];
    const std::array<std::uint64_t, 4> stack = {0, kChain[2], 0, 0};
    unwinder_.share_rules(shared_);
    unwinder_.unwind({.pid = kPid,
                      .registers = {.abi = 2, .mask = 0xff01ff, .values = registers},
                      .user_stack = std::as_bytes(std::span(stack))});
    return *shared_.spaces.find(kPid);
  }

  std::size_t frames_left(std::uint64_t space) {
    const std::array<std::uint64_t, 3> words = {space, kStack, 0};  // a ShrunkStack
    return unwinder_
               .unwind({.pid = kPid,
                        .callchain = kChain,
                        .registers = {.abi = 0, .mask = 0xff01ff},
                        .user_stack = std::as_bytes(std::span(words))})
               .size() -
           1;
  }

  static constexpr std::array<std::uint64_t, 3> kChain = {kContextUser, kJit + 16, kJit + 5000};
  World world_{{}};
  Recording recording_;
  EventDecoder feed_{world_, recording_};
  StackUnwinder unwinder_{world_};
  SharedRules shared_;
};

TEST_F(ShrunkRecordTest, mapping_elsewhere_leaves_the_frames_true) {
  map(kJit, "//anon");
  map(kJit + 4096, "//anon");
  const std::uint64_t space = learn();
  EXPECT_EQ(frames_left(space), 2U);
  map(kJit + 0x100000, "//anon");
  EXPECT_EQ(frames_left(space), 2U);
  EXPECT_EQ(unwinder_.last_end(), StackEnd::Complete);
}

TEST_F(ShrunkRecordTest, stack_ends_at_a_frame_whose_code_was_replaced) {
  map(kJit, "//anon");
  map(kJit + 4096, "//anon");
  const std::uint64_t space = learn();
  map(kJit, "[uprobes]");
  EXPECT_EQ(frames_left(space), 1U);
  EXPECT_EQ(unwinder_.last_end(), StackEnd::Replaced);
  EXPECT_EQ(unwinder_.caveats().back(),
            "1 of 2 user stacks end early: the code of a frame was replaced while they waited to "
            "be checked");
}

}  // namespace
}  // namespace memtrace::in_ring_unwinder_test

#endif
