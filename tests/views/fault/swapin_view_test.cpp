#include "support/fake_namer.h"
#include "support/truth_rows.h"
#include "views/fault/fault_script.h"
#include "views/fault/swap_stacks.h"

namespace memtrace::test::swapin_view_test {
namespace {

constexpr std::uint64_t kHeap = 0x10000000;
constexpr std::uint64_t kFile = 0x20000000;
constexpr std::uint64_t kMovable = 8;
constexpr const char* kWriteEvent = "vmscan:mm_vmscan_write_folio";

Frame kernel_frame(const char* function) {
  return {.function = function, .module = "[kernel]", .kernel = true};
}

// Stack 5 reads swap, stack 6 fills a fresh page.
class SwapInTest : public testing::Test {
 protected:
  SwapInTest() {
    namer_.locations[LocationId{5}] = {kernel_frame("swap_cluster_readahead"),
                                       kernel_frame("do_swap_page")};
    namer_.locations[LocationId{6}] = {kernel_frame("do_anonymous_page")};
  }

  static void prepare(EventScript& script) {
    map(script, {kHeap, 0x100000, AreaKind::Heap, "[heap]"});
    map(script, {kFile, 0x100000, AreaKind::File, "/data"});
    script.add_field("kmem:mm_page_alloc", "gfp_flags").flags = {{kMovable, "__GFP_MOVABLE"}};
    script.add_field(kWriteEvent, "reclaim_flags");
  }

  FakeNamer namer_;
};

// Else a live report by process would have none, and could not tell pages that are read from swap.
TEST(SwapIns, kernel_stacks_are_recorded_whatever_the_keys_are) {
  EXPECT_TRUE(find_view("swapin")->spec.judges_kernel_stacks);
}

TEST_F(SwapInTest, major_faults_on_memory_without_a_file_are_swap_ins) {
  EventScript script("swapin", {.by = {"pid"}, .namer = &namer_});
  prepare(script);
  script.play({at(1000, entry(kHeap)),
               at(4000, major(kHeap)),
               at(5000, entry(kHeap + 0x1000)),
               at(5500, minor(kHeap + 0x1000)),
               at(6000, entry(kFile)),
               at(9000, major(kFile))});
  const Report report = script.finish();
  EXPECT_EQ(report.tables[0].rows.size(), 1U);
  EXPECT_EQ(figure(report, {number(100)}, "count"), number(1));
  EXPECT_EQ(figure(report, {number(100)}, "max"), number(3000));
  EXPECT_TRUE(has_note(report, "swap cache"));
}

TEST_F(SwapInTest, pages_are_those_allocated_by_swap_ins_functions_for_users) {
  EventScript script("swapin", {.by = {"pid"}, .namer = &namer_});
  prepare(script);
  script.play(
      {entry(kHeap),
       with_stack(5, page_alloc(0, kMovable)),
       with_stack(5, page_alloc(2, kMovable)),
       with_stack(5, page_alloc(0)),  // a page of the kernel's own, for the swap cache's tree
       with_stack(6, page_alloc(0, kMovable)),
       major(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "pages"), number(5));
  EXPECT_EQ(total(report, "pages"), 5U);
}

TEST_F(SwapInTest, pages_read_in_a_fault_are_in_the_row_of_its_stack) {
  EventScript script("swapin", {.by = {"stack"}, .namer = &namer_});
  prepare(script);
  script.play({with_stack(3, entry(kHeap)),
               with_stack(5, page_alloc(0, kMovable)),
               major(kHeap),
               with_stack(5, page_alloc(1, kMovable))});  // outside: swapoff
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {stack(3)}, "pages"), number(1));
  EXPECT_EQ(figure(report, {stack(5)}, "pages"), number(2));
}

TEST_F(SwapInTest, pages_are_blank_without_names) {
  EventScript script("swapin", {.by = {"pid"}});
  prepare(script);
  script.play({entry(kHeap), with_stack(5, page_alloc(0, kMovable)), major(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "pages"), Cell());
  EXPECT_TRUE(has_note(report, "number of pages read is not known"));
}

TEST_F(SwapInTest, pages_that_a_kprobe_saw_being_read_need_no_names) {
  constexpr const char* kReadEvent = "memtrace_kernel_7:swap_readpage";
  EventScript script("swapin", {.by = {"pid"}});
  prepare(script);
  script.add_field(kReadEvent, "__probe_ip");
  const Step read{.event = kReadEvent, .payload = {}, .fields = {0}};
  script.play({entry(kHeap),
               read,
               with_stack(5, page_alloc(0, kMovable)),
               read,
               with_stack(5, page_alloc(0, kMovable)),
               major(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "pages"), number(2));
  EXPECT_EQ(total(report, "pages"), 2U);
  EXPECT_FALSE(has_note(report, "number of pages read is not known"));
}

Step write_of(const RawPayload& payload) {
  return {.event = kWriteEvent, .payload = payload};
}

// A kernel may tell it by flags or otherwise.
const RawPayload kAnonymousWrite = ReclaimWrite{.of_file = false};
const RawPayload kFileWrite = ReclaimWrite{.of_file = true};

TEST_F(SwapInTest, pages_written_by_reclaim_count_for_who_reclaimed_and_not_those_of_files) {
  EventScript script("swapin", {.by = {"pid"}, .namer = &namer_});
  prepare(script);
  script.play({by_process(300, write_of(kAnonymousWrite)),
               by_process(300, write_of(kAnonymousWrite)),
               by_process(300, write_of(RawPayload())),  // its format was lost
               by_process(300, write_of(kFileWrite))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(300)}, "out"), number(2));
  EXPECT_EQ(total(report, "out"), 2U);
}

TEST_F(SwapInTest, a_folio_that_is_swapped_out_is_as_many_pages_as_were_allocated) {
  EventScript script("swapin", {.by = {"pid"}, .namer = &namer_});
  prepare(script);
  script.play({page_alloc({.page = 1}),
               page_alloc({.page = 512, .order = 9, .like_huge_page = true}),
               by_process(300, write_of(ReclaimWrite{.page = 512})),
               by_process(300, write_of(ReclaimWrite{.page = 1}))});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(300)}, "out"), number(513));
}

TEST_F(SwapInTest, pages_stand_beside_the_sum_of_what_the_kernel_counted) {
  EventScript script("swapin", {.by = {"pid"}, .namer = &namer_});
  prepare(script);
  script.world().note_vmstat_growth({{"pswpout", 3}, {"swpout_zero", 1}, {"pswpin", 9000}});
  script.world().note_all_events(true);
  script.play({page_alloc({.page = 1}),
               page_alloc({.page = 4, .order = 2, .like_huge_page = true}),
               write_of(ReclaimWrite{.page = 4}),
               with_stack(5, page_alloc(0, kMovable))});
  const Report report = script.finish();
  const auto truth = truth_rows(report);
  ASSERT_EQ(truth.size(), 2U);
  EXPECT_EQ(
      truth[1],
      (std::vector<Cell>{text("out"), number(4), text("pswpout + swpout_zero"), number(4), 100.0}));
  EXPECT_TRUE(has_note(report, "pages is 1, but the kernel's pswpin grew by 9,000"));
  EXPECT_FALSE(has_note(report, "out is"));
}

TEST_F(SwapInTest, what_was_written_is_blank_when_it_was_not_recorded) {
  EventScript script("swapin", {.by = {"pid"}, .namer = &namer_});
  map(script, {kHeap, 0x100000, AreaKind::Heap, "[heap]"});
  script.play({entry(kHeap), major(kHeap)});
  const Report report = script.finish();
  EXPECT_EQ(figure(report, {number(100)}, "out"), Cell());
  EXPECT_TRUE(has_note(report, "swapped out is not known"));
}

TEST_F(SwapInTest, machines_own_counters_stand_beside_them) {
  EventScript script("swapin", {.by = {"pid"}, .namer = &namer_});
  prepare(script);
  script.world().note_vmstat_growth({{"pgfault", 7}, {"pswpin", 5}});
  const Report report = script.finish();
  EXPECT_EQ(total(report, "pswpin"), 5U);
  EXPECT_EQ(total(report, "pswpout"), 0U);
}

// The stack of these functions of the kernel, innermost first, and of a program's behind them, with
// the markers of perf_event.h.
class SwapStacksTest : public testing::Test {
 protected:
  SwapStacksTest() {
    world_.map({.pid = 1,
                .range = {0x400000, 0x500000},
                .module = {.kind = ModuleKind::File, .path = "/bin/a"}});
  }

  bool is_swap_in(const std::vector<const char*>& kernel_functions,
                  const std::vector<const char*>& program_functions = {"main"}) {
    std::vector<std::uint64_t> chain = {0xffffffffffffff80};
    for (std::size_t i = 0; i < kernel_functions.size(); ++i) {
      chain.push_back(next_kernel_ += 0x100);
    }
    chain.push_back(0xfffffffffffffe00);
    for (std::size_t i = 0; i < program_functions.size(); ++i) {
      chain.push_back(next_program_ += 0x100);
    }
    const StackId stack = world_.intern_stack(1, chain);
    std::vector<const char*> functions = kernel_functions;
    functions.insert(functions.end(), program_functions.begin(), program_functions.end());
    const auto locations = world_.stacks().locations(stack);
    for (std::size_t i = 0; i < locations.size(); ++i) {
      namer_.locations[locations[i]] = {{.function = functions[i]}};
    }
    return stacks_.is_swap_in(stack, world_, namer_);
  }

  World world_{{}};
  FakeNamer namer_;
  SwapStacks stacks_;
  std::uint64_t next_kernel_ = 0xffffffff81000000;
  std::uint64_t next_program_ = 0x400000;
};

TEST_F(SwapStacksTest, are_known_by_their_functions_however_the_compiler_named_them) {
  EXPECT_TRUE(is_swap_in({"swapin_readahead.constprop.0"}));
  EXPECT_TRUE(is_swap_in({"alloc_pages", "shmem_swapin_folio"}));
  EXPECT_FALSE(is_swap_in({"do_anonymous_page"}));
  EXPECT_FALSE(is_swap_in({"__read_swap_cache_async", "zswap_writeback_entry"}));
  EXPECT_FALSE(is_swap_in({"zswap_writeback_entry", "do_swap_page"}));
  EXPECT_FALSE(is_swap_in({"alloc_pages"}, {"do_swap_page"}));
  EXPECT_FALSE(stacks_.is_swap_in({}, world_, namer_));
}

// A large report has millions of stacks, which differ in their programs' functions mostly.
TEST_F(SwapStacksTest, only_places_of_the_kernel_are_named_and_each_once) {
  is_swap_in({"alloc_pages", "do_swap_page"}, {"malloc", "main"});
  EXPECT_EQ(namer_.locations_asked, 2U);
  EXPECT_EQ(namer_.stacks_asked, 0U);
  EXPECT_TRUE(stacks_.has_names());
}

TEST_F(SwapStacksTest, addresses_are_no_names) {
  EXPECT_FALSE(is_swap_in({"[kernel]+0x1234"}));
  EXPECT_FALSE(stacks_.has_names());
}

}  // namespace
}  // namespace memtrace::test::swapin_view_test
