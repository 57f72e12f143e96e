#include "unwind/sample_rewriter.h"

#include <gtest/gtest.h>

#include <cstring>

#include "perf/record/perf_format.h"

namespace memtrace {
namespace {

using Words = std::vector<std::uint64_t>;

// A sample as words: header, id, ip, chain, raw, and the tail of registers and stack.
struct Layout {
  Words chain;
  Words raw;  // its first four bytes are its size
  Words tail;
};

struct Built {
  Words words;
  Sample sample;
};

constexpr std::size_t kWordsBeforeChain = 4;  // header, id, ip, number of entries

std::uint64_t header_word(std::size_t word_count) {
  const RecordHeader header{9, 2, static_cast<std::uint16_t>(word_count * 8)};
  std::uint64_t word = 0;
  std::memcpy(&word, &header, sizeof(word));
  return word;
}

Built build(const Layout& layout) {
  Built built;
  Words& words = built.words;
  words = {0, 11, 0xffffffff81000010U, layout.chain.size()};
  for (const Words* part : {&layout.chain, &layout.raw, &layout.tail}) {
    words.insert(words.end(), part->begin(), part->end());
  }
  words.front() = header_word(words.size());
  const std::span<const std::uint64_t> all(words);
  built.sample.callchain = all.subspan(kWordsBeforeChain, layout.chain.size());
  if (!layout.raw.empty()) {
    // Behind the four bytes that say how long it is.
    built.sample.raw =
        std::as_bytes(all.subspan(kWordsBeforeChain + layout.chain.size(), layout.raw.size()))
            .subspan(sizeof(std::uint32_t));
  }
  return built;
}

Words rewritten(const Built& built, const Words& chain) {
  SampleRewriter rewriter;
  const auto bytes = rewriter.rewrite(std::as_bytes(std::span(built.words)), built.sample, chain);
  Words words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  EXPECT_EQ(bytes.size() % 8, 0U) << "records are whole words";
  return words;
}

const Words kChain = {kContextUser, 0x401000, 0x402000};
const Words kRepaired = {kContextUser, 0x401000, 0x401800, 0x402000};
const Words kRaw = {0x1111111100000004U, 0x2222222222222222U};
const Words kTail = {2, 0x7000, 0x7008, 0x401000, 64, 5, 6, 7, 8};

TEST(SampleRewriterTest, physical_address_behind_the_tail_stays) {
  Words tail = kTail;
  tail.push_back(0x12345000);
  Built built = build({kChain, kRaw, tail});
  built.sample.has_physical_address = true;
  built.sample.physical_address = 0x12345000;
  const Words words = rewritten(built, kChain);
  ASSERT_EQ(words.size(), kWordsBeforeChain + kChain.size() + kRaw.size() + 1);
  EXPECT_EQ(words.front(), header_word(words.size()));
  EXPECT_EQ(words.back(), 0x12345000U);
}

TEST(SampleRewriterTest, chain_is_put_in_and_the_tail_left_out) {
  Words expected = {header_word(10), 11, 0xffffffff81000010U, 4};
  expected.insert(expected.end(), kRepaired.begin(), kRepaired.end());
  expected.insert(expected.end(), kRaw.begin(), kRaw.end());
  EXPECT_EQ(rewritten(build({kChain, kRaw, kTail}), kRepaired), expected);
}

TEST(SampleRewriterTest, same_chain_only_loses_the_tail) {
  EXPECT_EQ(rewritten(build({kChain, kRaw, kTail}), kChain), build({kChain, kRaw, {}}).words);
}

TEST(SampleRewriterTest, software_event_without_fields_ends_behind_its_chain) {
  EXPECT_EQ(rewritten(build({kChain, {}, kTail}), kRepaired), build({kRepaired, {}, {}}).words);
}

TEST(SampleRewriterTest, type_and_mode_of_the_header_stay) {
  const Words words = rewritten(build({kChain, kRaw, kTail}), kRepaired);
  const RecordHeader header = header_of(std::as_bytes(std::span(words)));
  EXPECT_EQ(header.type, 9U);
  EXPECT_EQ(header.misc, 2U);
  EXPECT_EQ(header.size_bytes, words.size() * 8);
}

TEST(SampleRewriterTest, one_rewriter_serves_long_and_short_samples_in_turn) {
  SampleRewriter rewriter;
  for (const std::size_t frames : {100U, 1U, 50U}) {
    const Words chain(frames, 0x401000);
    const Built built = build({chain, kRaw, kTail});
    const auto bytes = rewriter.rewrite(std::as_bytes(std::span(built.words)), built.sample, chain);
    EXPECT_EQ(bytes.size(), (kWordsBeforeChain + frames + kRaw.size()) * 8);
  }
}

}  // namespace
}  // namespace memtrace
