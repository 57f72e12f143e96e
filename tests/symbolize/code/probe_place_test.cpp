#include "symbolize/code/probe_place.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>

#include "support/own_code.h"
#include "symbolize/code/function_table.h"
#include "symbolize/code/tail_code.h"

namespace memtrace {
namespace {

using Bytes = std::vector<std::byte>;

Bytes code(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

constexpr PlaceRequest kFirstArgument = {.needed = mask_of(X86Register::Di)};
constexpr PlaceRequest kLikeFree = {.needed = mask_of(X86Register::Di), .allow_early_return = true};

ProbePlace place(const Bytes& bytes, const PlaceRequest& request = kFirstArgument) {
  return find_probe_place({bytes, EM_X86_64}, request);
}

void expect_entry(const ProbePlace& found) {
  EXPECT_EQ(found.offset_bytes, 0U);
  EXPECT_EQ(found.pushed_bytes, 0);
  EXPECT_FALSE(found.is_emulated);
}

TEST(probe_place, push_at_the_entry_is_taken) {
  const auto found = place(code({0x55, 0x48, 0x89, 0xE5, 0xC3}));  // push %rbp; mov; ret
  EXPECT_EQ(found.offset_bytes, 0U);
  EXPECT_TRUE(found.is_emulated);
}

TEST(probe_place, push_behind_endbr64_is_taken) {
  const auto found = place(code({0xF3, 0x0F, 0x1E, 0xFA, 0x41, 0x54, 0xC3}));
  EXPECT_EQ(found.offset_bytes, 4U);
  EXPECT_EQ(found.pushed_bytes, 0);
  EXPECT_TRUE(found.is_emulated);
}

TEST(probe_place, without_emulated_pushes_they_are_passed_and_counted) {
  PlaceRequest old_kernel = kFirstArgument;
  old_kernel.push_is_emulated = false;  // push %r12; push %rbp; sub $16,%rsp; call
  const auto found =
      place(code({0x41, 0x54, 0x55, 0x48, 0x83, 0xEC, 0x10, 0xE8, 0, 1, 0, 0}), old_kernel);
  EXPECT_EQ(found.offset_bytes, 7U);
  EXPECT_EQ(found.pushed_bytes, 32);
  EXPECT_TRUE(found.is_emulated);
}

// free of glibc 2.36: test %rdi,%rdi; je +8; push %rbp; mov; ...; ret
const Bytes kFree =
    code({0x48, 0x85, 0xFF, 0x0F, 0x84, 5, 0, 0, 0, 0x55, 0x48, 0x89, 0xE5, 0xC3, 0xC3});

TEST(probe_place, early_return_is_passed_only_when_allowed) {
  const auto exact = place(kFree);
  EXPECT_EQ(exact.offset_bytes, 3U);  // the branch itself, which free(NULL) comes by too
  EXPECT_FALSE(exact.skips_early_returns);
  const auto without_null = place(kFree, kLikeFree);
  EXPECT_EQ(without_null.offset_bytes, 9U);
  EXPECT_TRUE(without_null.is_emulated);
  EXPECT_TRUE(without_null.skips_early_returns);
}

TEST(probe_place, branch_that_does_not_return_is_never_passed) {
  Bytes calls_on = kFree;
  calls_on.at(14) = std::byte{0xE8};  // the branch leads to a call now
  calls_on.resize(calls_on.size() + 4);
  EXPECT_EQ(place(calls_on, kLikeFree).offset_bytes, 3U);
}

TEST(probe_place, branch_to_the_place_or_before_it_leaves_the_entry) {
  // test; push; nop; jmp to the push: a loop would hit the probe again
  expect_entry(place(code({0x48, 0x85, 0xFF, 0x55, 0x90, 0xEB, 0xFC})));
  // test; mov %rsi,%rax; push; je to the mov
  expect_entry(place(code({0x48, 0x85, 0xFF, 0x48, 0x89, 0xF0, 0x55, 0x74, 0xFA, 0xC3})));
}

TEST(probe_place, branch_to_behind_the_place_does_no_harm) {
  const auto found = place(code({0x48, 0x85, 0xFF, 0x55, 0x90, 0xEB, 0xFD}));  // jmp to the nop
  EXPECT_EQ(found.offset_bytes, 3U);
}

TEST(probe_place, overwritten_argument_leaves_the_entry) {
  expect_entry(place(code({0x48, 0x89, 0xF7, 0x55, 0xC3})));  // mov %rsi,%rdi; push
  expect_entry(place(code({0x31, 0xFF, 0x55, 0xC3})));        // xor %edi,%edi; push
  const PlaceRequest second = {.needed = mask_of(X86Register::Si)};
  EXPECT_EQ(place(code({0x48, 0x89, 0xF7, 0x55, 0xC3}), second).offset_bytes, 3U);
}

TEST(probe_place, short_function_leaves_the_entry) {
  expect_entry(place(code({0xC3})));
  expect_entry(place(code({0x48, 0x89, 0xF8, 0xC3})));  // mov %rdi,%rax; ret
  expect_entry(place({}));
}

TEST(probe_place, tail_call_is_a_place_itself) {
  const auto at_once = place(code({0xE9, 0, 1, 0, 0}));
  EXPECT_EQ(at_once.offset_bytes, 0U);
  EXPECT_TRUE(at_once.is_emulated);
  const auto after_test = place(code({0x48, 0x85, 0xFF, 0xE9, 0, 1, 0, 0}));
  EXPECT_EQ(after_test.offset_bytes, 3U);
  EXPECT_TRUE(after_test.is_emulated);
}

TEST(probe_place, nothing_behind_a_call_or_an_unknown_stack_is_taken) {
  expect_entry(place(code({0xFF, 0xD0, 0x55, 0xC3})));              // call *%rax; push
  expect_entry(place(code({0x48, 0x83, 0xE4, 0xF0, 0x55, 0xC3})));  // and $-16,%rsp; push
  expect_entry(place(code({0x06, 0x55, 0xC3})));                    // no instruction of 64 bits
}

TEST(probe_place, long_nops_and_prefixed_branches_are_not_taken) {
  expect_entry(place(code({0x0F, 0x1F, 0x44, 0, 0, 0xC3})));
  expect_entry(place(code({0x66, 0x90, 0xC3})));
  expect_entry(place(code({0xF2, 0xE9, 0, 1, 0, 0})));  // bnd jmp
}

TEST(probe_place, jump_table_allows_only_pushes) {
  // test; jmp +0; ...; jmp *(%rax,%rcx,8)
  expect_entry(place(code({0x48, 0x85, 0xFF, 0xEB, 0x00, 0xFF, 0x24, 0xC8})));
  EXPECT_EQ(place(code({0x48, 0x85, 0xFF, 0x55, 0xFF, 0x24, 0xC8})).offset_bytes, 3U);
}

TEST(probe_place, other_machines_get_the_entry) {
  const Bytes push = code({0x48, 0x85, 0xFF, 0x55});
  expect_entry(find_probe_place({push, EM_AARCH64}, kFirstArgument));
  expect_entry(find_probe_place({push, EM_386}, kFirstArgument));
}

// mov %rdi,%rbx; call; test %rax,%rax; je over the store; mov %rax,(%rbx); xor; pop; ret
const Bytes kStores = code({0x48, 0x89, 0xFB, 0xE8, 0,    1,    0,    0,    0x48, 0x85,
                            0xC0, 0x74, 0x05, 0x48, 0x89, 0x03, 0x31, 0xC0, 0x5B, 0xC3});

TEST(result_stores, store_through_a_copy_of_the_first_argument_is_found) {
  const auto stores = find_result_stores({kStores, EM_X86_64});
  ASSERT_EQ(stores.size(), 1U);
  EXPECT_EQ(stores[0].offset_bytes, 16U);
  EXPECT_EQ(name_of(stores[0].result), "ax");
}

TEST(result_stores, store_itself_is_taken_when_other_paths_lead_behind_it) {
  Bytes joined = kStores;
  joined.at(12) = std::byte{0x03};  // the branch leads to the instruction behind the store now
  const auto stores = find_result_stores({joined, EM_X86_64});
  ASSERT_EQ(stores.size(), 1U);
  EXPECT_EQ(stores[0].offset_bytes, 13U);
}

TEST(result_stores, store_through_anything_else_is_not_found) {
  Bytes other = kStores;
  other.at(2) = std::byte{0xF3};  // mov %rsi,%rbx
  EXPECT_TRUE(find_result_stores({other, EM_X86_64}).empty());
  // mov %rdi,%rcx; call; mov %rax,(%rcx): the callee may have changed rcx
  EXPECT_TRUE(
      find_result_stores({code({0x48, 0x89, 0xF9, 0xE8, 0, 1, 0, 0, 0x48, 0x89, 0x01}), EM_X86_64})
          .empty());
}

TEST(return_places, returns_and_tail_calls_are_found) {
  // je out; ret; nop; jmp out; ret
  const auto places = find_return_places(
      {code({0x0F, 0x84, 0, 1, 0, 0, 0xC3, 0x90, 0xE9, 0, 1, 0, 0, 0xC3}), EM_X86_64});
  EXPECT_EQ(places.returns, (std::vector<std::uint64_t>{6, 13}));
  ASSERT_EQ(places.tail_calls.size(), 2U);
  EXPECT_EQ(places.tail_calls[0].target, 262);
  EXPECT_EQ(places.tail_calls[1].target, 269);
  EXPECT_TRUE(places.is_complete);
  EXPECT_FALSE(find_return_places({code({0xFF, 0xE0}), EM_X86_64}).is_complete);
}

// A file says itself how long its functions are. In proportion to the square of their number these
// stores take minutes.
TEST(result_stores, many_take_time_in_proportion_to_their_number) {
  constexpr std::size_t kStoresOfOne = 100'000;
  Bytes bytes;
  for (std::size_t i = 0; i < kStoresOfOne; ++i) {
    const Bytes store = code({0x48, 0x89, 0x07});  // mov %rax,(%rdi)
    bytes.insert(bytes.end(), store.begin(), store.end());
  }
  EXPECT_EQ(find_result_stores({bytes, EM_X86_64}).size(), kStoresOfOne);
}

TEST(tail_code, function_that_jumps_everywhere_has_few_pieces) {
  const auto table = FunctionTable::load("/proc/self/exe");
  ASSERT_TRUE(table.ok());
  const TailCode code_of("/proc/self/exe", table.value());
  Bytes jumps;
  for (int i = 0; i < 1000; ++i) {
    const Bytes jump = code({0xE9, 0, i % 256, 1 + i / 256, 0});
    jumps.insert(jumps.end(), jump.begin(), jump.end());
  }
  const auto pieces = code_of.of({0, jumps});
  EXPECT_GT(pieces.size(), 64U);
  EXPECT_LE(pieces.size(), 128U);
}

TEST(code_bytes, function_that_claims_more_than_any_has_is_cut) {
  const TemporaryFolder folder;
  const std::string path = folder.write("program", "");
  constexpr std::uint64_t kClaimed = std::uint64_t{64} << 20U;
  ASSERT_EQ(::truncate(path.c_str(), kClaimed), 0);
  const auto bytes = code_bytes(path, 0, kClaimed);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes.value().size(), std::size_t{1} << 20U);
}

// Functions of allocators as Debian builds them.
class RealCode : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = GetParam();
    for (const std::string folder : {"/lib/x86_64-linux-gnu/", "/lib64/", "/usr/lib64/"}) {
      path_ = std::filesystem::exists(folder + name) ? folder + name : path_;
    }
    if (path_.empty()) {
      GTEST_SKIP() << name << " is not installed here";
    }
  }

  Bytes bytes_of(std::string_view function) {
    const auto table = FunctionTable::load(path_);
    const auto found =
        table.ok() ? table.value().find(function) : Result<std::vector<Function>>(table.error());
    if (!found.ok()) {
      ADD_FAILURE() << describe(found.error());
      return {};
    }
    const Function& first = found.value().front();
    auto bytes = code_bytes(path_, first.file_offset, first.size_bytes);
    EXPECT_TRUE(bytes.ok());
    return bytes.ok() ? bytes.take() : Bytes();
  }

  std::string path_;
};

TEST_P(RealCode, malloc_family_has_emulated_places) {
  const PlaceRequest two = {.needed = mask_of(X86Register::Di) | mask_of(X86Register::Si)};
  EXPECT_TRUE(place(bytes_of("malloc")).is_emulated);
  EXPECT_TRUE(place(bytes_of("calloc"), two).is_emulated);
  EXPECT_TRUE(place(bytes_of("realloc"), two).is_emulated);
  EXPECT_TRUE(place(bytes_of("free"), kLikeFree).is_emulated);
}

TEST_P(RealCode, posix_memalign_stores_its_result_where_it_can_be_read) {
  EXPECT_FALSE(find_result_stores({bytes_of("posix_memalign"), EM_X86_64}).empty());
}

INSTANTIATE_TEST_SUITE_P(allocators,
                         RealCode,
                         testing::Values("libc.so.6",
                                         "libjemalloc.so.2",
                                         "libtcmalloc_minimal.so.4"),
                         [](const auto& library) {
                           const std::string name = library.param;
                           return name.substr(3, name.find_first_of("._") - 3);
                         });

}  // namespace
}  // namespace memtrace
