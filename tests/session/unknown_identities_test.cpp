#include "session/unknown_identities.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

std::vector<std::string> notes_of(const UnknownIdentities& unknown,
                                  const ViewOptions& options,
                                  bool has_identities = true) {
  Caveats caveats;
  unknown.note(options, has_identities, caveats);
  return caveats.notes;
}

TEST(UnknownIdentitiesTest, nobody_asks_and_nothing_is_said) {
  UnknownIdentities unknown;
  unknown.count(IdentityTable(), IdentityId());
  EXPECT_TRUE(notes_of(unknown, {.by = {"comm"}}).empty());
}

TEST(UnknownIdentitiesTest, key_counts_the_events_that_lack_it) {
  IdentityTable identities;
  UnknownIdentities unknown;
  unknown.count(identities, identities.intern(1000, ""));
  unknown.count(identities, identities.intern(1000, "/x"));
  EXPECT_TRUE(notes_of(unknown, {.by = {"user"}}).empty());
  const auto notes = notes_of(unknown, {.by = {"cgroup"}});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].starts_with("1 event is of a process whose cgroup")) << notes[0];
}

TEST(UnknownIdentitiesTest, recording_without_identities_says_so_once) {
  UnknownIdentities unknown;
  unknown.count(IdentityTable(), IdentityId());
  const auto notes = notes_of(unknown, {.by = {"user"}}, false);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].starts_with("the recording does not have the users")) << notes[0];
}

TEST(UnknownIdentitiesTest, filter_that_could_not_be_decided_is_told) {
  UnknownIdentities unknown;
  unknown.count_left_out(TaskFilter::Verdict::UnknownName);
  const auto notes = notes_of(unknown, {});
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].ends_with("was left out by --comm")) << notes[0];
}

}  // namespace
}  // namespace memtrace
