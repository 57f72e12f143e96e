// What a report says of its mappings after a loss.
#include <gtest/gtest.h>

#include "sections/recording_facts.h"
#include "session/session.h"
#include "support/event_script.h"
#include "support/fake_source.h"

namespace memtrace::mapping_recovery_note_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::vector<Report> run(test::FakeSource& source, std::vector<const NamedView*> views) {
  SessionOptions options;
  options.views = std::move(views);
  options.times.interval_ns = kSecond;
  auto session = Session::create(source, options);
  EXPECT_TRUE(session.ok());
  std::vector<Report> reports;
  const auto done = session.value()->run([&reports](std::vector<Report> made) -> Result<> {
    std::ranges::move(made, std::back_inserter(reports));
    return kDone;
  });
  EXPECT_TRUE(done.ok());
  return reports;
}

TEST(LostMappingsNoteTest, after_a_loss_mappings_are_in_doubt_for_good) {
  test::FakeSource source;
  source.add(kSecond, Lost{.count = 9});
  source.add_kmalloc(2 * kSecond + 2, {});
  const auto reports = run(source, {find_view("kmalloc"), find_view("ffaults")});
  ASSERT_EQ(reports.size(), 4U);
  const std::string doubt = "records of mappings may be among";
  EXPECT_FALSE(test::has_note(reports[0], doubt)) << "it has no files";
  EXPECT_TRUE(test::has_note(reports[1], doubt));
  EXPECT_EQ(reports[3].caveats.missing(), 0U);
  EXPECT_TRUE(test::has_note(reports[3], doubt));
  EXPECT_FALSE(test::has_note(reports[3], "mappings again"));
}

TEST(LostMappingsNoteTest, mappings_that_were_read_again_are_in_doubt_until_then) {
  test::FakeSource source;
  source.add(kSecond, Lost{.count = 9});
  source.add_kmalloc(2 * kSecond, {});
  source.edit().about_json = to_json({.mapping_reads = 1});
  const auto reports = run(source, {find_view("ffaults")});
  ASSERT_FALSE(reports.empty());
  EXPECT_TRUE(
      test::has_note(reports[0], "memtrace read the mappings again from /proc, but until then"));
}

}  // namespace
}  // namespace memtrace::mapping_recovery_note_test
