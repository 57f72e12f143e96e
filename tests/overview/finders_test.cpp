// What each finder reads from a view's table.
#include "overview/finders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/fake_namer.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

Cell number(std::uint64_t value) {
  return value;
}

class FindersTest : public testing::Test {
 protected:
  FindersTest() {
    namer_.stacks[StackId{1}] = {{.function = "d_alloc", .kernel = true},
                                 {.function = "walk(int)"}};
    namer_.stacks[StackId{2}] = {{.function = "sk_alloc", .kernel = true}};
    namer_.stacks[StackId{3}] = {{.function = "do_anonymous_page", .kernel = true},
                                 {.function = "fill()"}};
    namer_.stacks[StackId{4}] = {{.function = "allocate_slab", .kernel = true}};
  }

  FindingContext context(FindingContext::Scope scope = FindingContext::Scope::Machine) {
    return {.span_ns = 10 * kSecond, .scope = scope, .namer = namer_};
  }

  test::FakeNamer namer_;
};

TEST_F(FindersTest, every_finder_s_view_takes_its_keys_and_flags) {
  std::set<std::string_view> views;
  for (const Finder& finder : all_finders()) {
    const NamedView* view = find_view(finder.view);
    ASSERT_NE(view, nullptr) << finder.view;
    EXPECT_TRUE(views.insert(finder.view).second);
    ViewOptions options{.by = finder.by};
    for (const std::string& flag : finder.flags) {
      EXPECT_TRUE(std::ranges::any_of(view->spec.options, [&flag](const ViewOption& option) {
        return option.name == flag && option.argument.empty();
      })) << flag;
      options.own[flag] = "1";
    }
    EXPECT_TRUE(make_view(view->spec, options).ok()) << finder.view;
    EXPECT_TRUE(finder.find(Report(), context()).empty()) << finder.view;
  }
}

TEST_F(FindersTest, who_made_others_wait_is_a_finding_where_it_is_one_program) {
  const auto row = [](const char* aggressor, const char* victim, std::uint64_t time_ns) {
    return std::vector<Cell>{std::string(aggressor), std::string(victim), number(time_ns), 50.0};
  };
  const Report report{.tables = {{.columns = {{"aggressor", Unit::Text},
                                              {"victim", Unit::Text},
                                              {"time_ns", Unit::Nanoseconds},
                                              {"of_victim", Unit::Percent}},
                                  .key_count = 2,
                                  .rows = {row("hog", "hog", 5 * kSecond),  // by itself
                                           row("hog", "web", 324'000'000),  // decisive
                                           row("web", "web", 28'000'000),
                                           row("hog", "log", 500'000'000),  // not
                                           row("web", "log", 500'000'000),
                                           row("hog", "short", 1000)}}}};  // nothing to speak of
  const auto findings = find_aggressors(report, context());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].sentence, "hog caused 92 % of the 352 ms that web waited for memory.");
  EXPECT_EQ(findings[0].rank, Finding::Rank::Stall);
  EXPECT_EQ(findings[0].weight, 324'000'000U);
  EXPECT_EQ(findings[0].command, "stalls");
}

// A report may run while another memtrace records.
TEST_F(FindersTest, what_memtrace_did_itself_comes_last_and_takes_no_one_s_place) {
  const auto row = [](const char* comm, std::uint64_t count) {
    return std::vector<Cell>{std::string(comm), number(count), number(0)};
  };
  const Report report{
      .tables = {
          {.columns = {{"comm", Unit::Text}, {"count", Unit::Number}, {"time", Unit::Nanoseconds}},
           .key_count = 1,
           .rows = {row("memtrace", 500'000),
                    row("cc1plus", 300'000),
                    row("as", 260'000),
                    row("ld", 240'000)}}}};
  auto findings = find_faults(report, context());
  sort_by_weight(findings);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].sentence, "cc1plus took 23 % of all page faults (300,000).");
  EXPECT_EQ(findings[1].sentence, "as took 20 % of all page faults (260,000).");
  EXPECT_EQ(findings[2].sentence, "memtrace itself took 38 % of all page faults (500,000).");
  EXPECT_TRUE(findings[2].of_memtrace);
  EXPECT_TRUE(is_memtrace("memtrace-static"));
  EXPECT_FALSE(is_memtrace("memtraced"));
}

TEST_F(FindersTest, kills_in_one_cgroup_are_one_finding) {
  const auto mebibytes = [](std::uint64_t count) { return number(count << 20U); };
  const Report report{
      .tables = {
          {.columns = {{"cgroup"},
                       {"for"},
                       {"victim"},
                       {"trigger"},
                       {"how"},
                       {"kills"},
                       {"anon"},
                       {"cgroup_limit"}},
           .rows = {{"/web",
                     "cgroup",
                     "worker",
                     "nginx",
                     "killed",
                     number(2),
                     mebibytes(7),
                     mebibytes(16)},
                    {"/web",
                     "cgroup",
                     "worker",
                     "worker",
                     "killed",
                     number(1),
                     mebibytes(8),
                     mebibytes(16)},
                    {"/web",
                     "cgroup",
                     "worker",
                     "worker",
                     "was exiting",
                     number(1),
                     mebibytes(9),
                     mebibytes(16)},
                    {Cell(), "machine", "other", "other", "killed", number(1), Cell(), Cell()}}}}};
  auto findings = find_oom_kills(report, context());
  sort_by_weight(findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].sentence,
            "The OOM killer killed worker 3 times in cgroup /web, whose limit is 16.0 MiB. It held "
            "up to 8.0 MiB of anonymous memory. nginx asked for the memory that was missing.");
  EXPECT_EQ(findings[1].sentence, "The OOM killer killed other.");
}

TEST_F(FindersTest, refused_calls_name_the_call_and_the_error) {
  const Report report{.tables = {{.columns = {{"comm"}, {"call"}, {"error"}, {"count"}, {"asked"}},
                                  .rows = {{"java", "mmap", "ENOMEM", number(2), number(1U << 20U)},
                                           {"cc1", "brk", Cell(), number(1), number(1U << 20U)}}}}};
  const auto findings = find_refused_calls(report, context());
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].sentence,
            "The kernel refused memory to java (2 mmap calls, ENOMEM, 1.0 MiB in all).");
  EXPECT_EQ(findings[0].command, "enomem --comm java");
  EXPECT_EQ(findings[1].sentence, "The kernel refused memory to cc1 (1 brk call, 1.0 MiB in all).")
      << "brk(2) returns the old end of the heap and no error";
}

TEST_F(FindersTest, waits_weigh_by_their_share_of_the_time) {
  const Report report{
      .tables = {{.columns = {{"comm"}, {"kind"}, {"count"}, {"time_ns"}, {"max_ns"}},
                  .rows = {{"a b", "direct", number(3), number(kSecond), number(kSecond / 2)},
                           {"c", "memcg", number(1), number(kSecond / 50), number(1)},
                           {"d", "memcg", number(1), number(1000), number(1000)}}}}};
  const auto findings = find_reclaim(report, context());
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].rank, Finding::Rank::Stall);
  EXPECT_EQ(findings[0].sentence,
            "a b waited 1.00 s to free memory itself (direct reclaim, 3 times), at most 500 ms at "
            "once: 10 % of the recording's time.");
  EXPECT_EQ(findings[0].command, "reclaim --comm 'a b'");
  EXPECT_EQ(findings[1].rank, Finding::Rank::SmallStall);
}

TEST_F(FindersTest, growth_is_by_cache_or_by_purpose) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
  const Report report{
      .tables = {
          {.columns = {{"comm"}, {"cache"}, {"stack"}, {"count"}, {"bytes"}},
           .rows = {{"find", "dentry", StackId{1}, number(90), number(6 * kMebibyte)},
                    {"srv", "sock_inode_cache", StackId{2}, number(5), number(3 * kMebibyte)},
                    {"srv", "UDP", StackId{2}, number(5), number(3 * kMebibyte)},
                    {"py", Cell(), StackId{3}, number(9), number(50 * kMebibyte)},
                    {"py", Cell(), StackId{4}, number(9), number(90 * kMebibyte)},
                    {"sh", "vma", StackId{1}, number(1), number(kMebibyte)}}}}};
  const auto findings = find_growth(report, context());
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].sentence,
            "find allocated 6.0 MiB of slab cache dentry, not freed by the end (90 objects, most "
            "in d_alloc).");
  EXPECT_EQ(
      findings[1].sentence,
      "srv allocated 6.0 MiB of sockets, not freed by the end (10 blocks, most in sk_alloc).");
  EXPECT_EQ(findings[2].sentence,
            "py allocated 50.0 MiB of anonymous memory, not freed by the end (9 blocks, most in "
            "fill).");
  EXPECT_EQ(findings[2].rank, Finding::Rank::ProgramGrowth);
  EXPECT_EQ(findings[2].command, "kleaks --by stack --user-pages --comm py");
}

// More rows than are looked at, all of one size: which of them count does not depend on their
// order.
TEST_F(FindersTest, growth_is_the_same_in_whatever_order_the_rows_are) {
  constexpr std::uint32_t kRows = 500;
  Report report{.tables = {{.columns = {{"comm"}, {"stack"}, {"count"}, {"bytes"}}}}};
  auto& rows = report.tables.front().rows;
  for (std::uint32_t i = 1; i <= kRows; ++i) {
    namer_.stacks[StackId{i}] = namer_.stacks[StackId{3}];
    rows.push_back({"py", StackId{i}, number(i), number(std::uint64_t{1} << 20U)});
  }
  const auto findings = find_growth(report, context());
  std::ranges::reverse(rows);
  const auto reversed = find_growth(report, context());
  ASSERT_EQ(findings.size(), 1U);
  ASSERT_EQ(reversed.size(), 1U);
  EXPECT_EQ(findings[0].sentence, reversed[0].sentence);
}

TEST_F(FindersTest, faults_name_who_takes_most_and_who_copies) {
  const Report report{
      .tables = {{.columns = {{"comm"}, {"class"}, {"stack"}, {"count"}, {"time"}},
                  .rows = {{"a", "minor", StackId{3}, number(60000), number(kSecond)},
                           {"b", "copy-on-write", StackId{3}, number(30000), number(kSecond)},
                           {"c", "minor", StackId{3}, number(10000), Cell()}}}}};
  const auto findings = find_faults(report, context());
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].sentence,
            "a took 60 % of all page faults (60,000, 1.00 s in all), most in fill.");
  EXPECT_EQ(findings[1].sentence,
            "b took 30 % of all page faults (30,000, 1.00 s in all), most in fill.");
  EXPECT_EQ(findings[2].sentence,
            "b copied 30,000 pages that it shared with another process (copy on write, 30 % of all "
            "page faults, 1.00 s in all), most in fill.");
}

// Each program that a shell starts copies some pages: they are all copies, and few faults.
TEST_F(FindersTest, copies_weigh_as_much_as_their_share_of_all_page_faults) {
  const Report report{
      .tables = {{.columns = {{"comm"}, {"class"}, {"stack"}, {"count"}, {"time"}},
                  .rows = {{"a", "minor", StackId{3}, number(170000), Cell()},
                           {"b", "minor", StackId{3}, number(18000), Cell()},
                           {"b", "copy-on-write", StackId{3}, number(12000), Cell()}}}}};
  auto findings = find_faults(report, context());
  sort_by_weight(findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].weight, 850U);
  EXPECT_TRUE(findings[0].sentence.starts_with("a took 85 %")) << findings[0].sentence;
  EXPECT_EQ(findings[1].weight, 60U);
  EXPECT_EQ(findings[1].sentence,
            "b copied 12,000 pages that it shared with another process (copy on write, 6 % of all "
            "page faults), most in fill.");
}

// Most page faults of a machine that compiles are the compiler's; mappings are not.
TEST_F(FindersTest, an_activity_weighs_as_much_as_its_share) {
  const Report faults{
      .tables = {{.columns = {{"comm"}, {"class"}, {"stack"}, {"count"}, {"time"}},
                  .rows = {{"cc1plus", "minor", StackId{3}, number(80000), Cell()},
                           {"fork", "copy-on-write", StackId{3}, number(20000), Cell()}}}}};
  const Report mappings{.tables = {{.columns = {{"comm"}, {"count"}, {"bytes"}},
                                    .rows = {{"map", number(19000), number(4096)},
                                             {"cc1plus", number(1000), number(4096)}}}}};
  auto findings = find_faults(faults, context());
  std::ranges::move(find_mapping_churn(mappings, context()), std::back_inserter(findings));
  sort_by_weight(findings);
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_EQ(findings[0].sentence,
            "map made 19,000 mappings (4.0 KiB in all): 95 % of those on the machine.");
  EXPECT_TRUE(findings[1].sentence.starts_with("cc1plus took 80 %")) << findings[1].sentence;
  EXPECT_TRUE(findings[2].sentence.starts_with("fork copied 20,000 pages")) << findings[2].sentence;
  EXPECT_TRUE(findings[3].sentence.starts_with("fork took 20 %")) << findings[3].sentence;
}

// Memory that is mapped and unmapped all the time costs faults and TLB flushes and keeps nothing.
TEST_F(FindersTest, mappings_that_do_not_last_are_said_to) {
  Report report{
      .tables = {{.columns = {{"comm"}, {"count"}, {"bytes"}, {"live"}, {"at_exit"}},
                  .rows = {{"map", number(60000), number(1000), number(40), number(60)},
                           {"keep", number(40000), number(1000), number(41), number(60)}}}}};
  const auto findings = find_mapping_churn(report, context());
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].sentence,
            "map made 60,000 mappings (1000 B in all, 90 % unmapped again): 60 % of those on the "
            "machine.");
  EXPECT_EQ(findings[1].sentence,
            "keep made 40,000 mappings (1000 B in all): 40 % of those on the machine.");
}

TEST_F(FindersTest, shares_of_one_program_s_recording_are_not_those_of_the_machine) {
  const Report faults{.tables = {{.columns = {{"comm"}, {"class"}, {"stack"}, {"count"}, {"time"}},
                                  .rows = {{"a", "minor", StackId{3}, number(80000), Cell()}}}}};
  const Report mappings{.tables = {{.columns = {{"comm"}, {"count"}, {"bytes"}},
                                    .rows = {{"a", number(19000), number(4096)}}}}};
  const Report objects{.tables = {{.columns = {{"comm"}, {"cache"}, {"allocs"}, {"bytes"}},
                                   .rows = {{"a", "dentry", number(19000), number(4096)}}}}};
  const auto sentence = [this](auto find, const Report& report) {
    const auto findings = find(report, context(FindingContext::Scope::Recorded));
    return findings.empty() ? std::string() : findings.front().sentence;
  };
  EXPECT_EQ(sentence(find_faults, faults),
            "a took 100 % of all recorded page faults (80,000), most in fill.");
  EXPECT_EQ(sentence(find_mapping_churn, mappings),
            "a made 19,000 mappings (4.0 KiB in all): 100 % of those recorded.");
  EXPECT_EQ(
      sentence(find_slab_allocations, objects),
      "a made 100 % of all recorded allocations from slab caches (19,000 from dentry, 4.0 KiB).");
  const auto selected = find_mapping_churn(mappings, context(FindingContext::Scope::Selected));
  ASSERT_EQ(selected.size(), 1U);
  EXPECT_EQ(selected[0].sentence,
            "a made 19,000 mappings (4.0 KiB in all): 100 % of those selected.");
}

TEST_F(FindersTest, files_on_tmpfs_that_grew_are_named) {
  const Report report{.tables = {{.columns = {{"comm"}, {"cache_add"}, {"cache_del"}}},
                                 {.columns = {{"file"}, {"grown"}, {"size"}},
                                  .rows = {{"/dev/shm/small", number(4096), number(4096)},
                                           {"/dev/shm/x", number(8 << 20), number(12 << 20)}}}}};
  const auto findings = find_files(report, context());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].sentence, "/dev/shm/x on tmpfs grew by 8.0 MiB to 12.0 MiB.");
  EXPECT_EQ(findings[0].command, "filepages");
}

TEST_F(FindersTest, page_cache_is_a_finding_only_when_it_does_not_keep_what_was_read) {
  Report report{.tables = {{.columns = {{"comm"}, {"cache_add"}, {"cache_del"}},
                            .rows = {{"cat", number(90000), number(80000)}}},
                           {.columns = {{"file"}, {"cache_add"}, {"cache_del"}},
                            .rows = {{"/big", number(90000), number(80000)}}}}};
  const auto findings = find_cache_churn(report, context());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].sentence,
            "cat put 90,000 pages into the page cache, most of /big; the kernel dropped 80,000 at "
            "the same time.");
  report.tables[1].columns.push_back({"times", Unit::Number});
  report.tables[1].rows[0].push_back(number(10));
  EXPECT_EQ(find_cache_churn(report, context())[0].sentence,
            "cat put 90,000 pages into the page cache, most of /big (hot: read 10 times over); the "
            "kernel dropped 80,000 at the same time.");
  report.tables[0].rows[0][2] = number(100);
  EXPECT_TRUE(find_cache_churn(report, context()).empty());
}

TEST_F(FindersTest, the_heaviest_comes_first) {
  std::vector<Finding> findings = {{.rank = Finding::Rank::Activity, .weight = 9, .sentence = "a"},
                                   {.rank = Finding::Rank::Kill, .weight = 1, .sentence = "b"},
                                   {.rank = Finding::Rank::Kill, .weight = 2, .sentence = "c"},
                                   {.rank = Finding::Rank::Kill, .weight = 1, .sentence = "a"}};
  sort_by_weight(findings);
  std::string order;
  for (const Finding& finding : findings) {
    order += finding.sentence;
  }
  EXPECT_EQ(order, "caba");
}

}  // namespace
}  // namespace memtrace
