#include "state/process/life_table.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr StringId kShell{1};
constexpr StringId kMake{2};

TEST(LifeTable, child_is_what_its_parent_was_until_it_runs_another_program) {
  LifeTable lives;
  const LifeId parent = lives.begin(10);
  lives.note_exe(parent, kShell);
  lives.note_command(parent, kMake);
  const LifeId child = lives.fork(parent, 10, 11);
  EXPECT_EQ(lives.at(child).pid, 11U);
  EXPECT_EQ(lives.at(child).parent_pid, 10U);
  EXPECT_EQ(lives.at(child).exe, kShell);
  EXPECT_EQ(lives.at(child).command, kMake);
  const LifeId after = lives.exec(child);
  EXPECT_EQ(lives.at(after).parent_pid, 10U);
  EXPECT_FALSE(lives.at(after).exe.valid());
  EXPECT_FALSE(lives.at(after).command.valid());
  EXPECT_EQ(lives.at(child).exe, kShell) << "what it was before stays";
}

TEST(LifeTable, program_is_what_is_mapped_first) {
  LifeTable lives;
  const LifeId life = lives.begin(10);
  lives.note_exe(life, kShell);
  lives.note_exe(life, kMake);
  EXPECT_EQ(lives.at(life).exe, kShell);
}

TEST(LifeTable, one_life_represents_all_that_are_alike) {
  LifeTable lives;
  const LifeId one = lives.begin(10);
  const LifeId other = lives.begin(11);
  const LifeId unknown = lives.begin(12);
  lives.note_exe(one, kShell);
  lives.note_exe(other, kShell);
  lives.note_parent(other, 1);
  EXPECT_EQ(lives.same<&Life::exe>(other), one);
  EXPECT_EQ(lives.same<&Life::parent_pid>(other), other);
  EXPECT_FALSE(lives.same<&Life::exe>(unknown).valid());
  EXPECT_FALSE(lives.same<&Life::parent_pid>(one).valid());
  EXPECT_FALSE(lives.same<&Life::command>(one).valid());
}

TEST(LifeTable, parent_whose_beginning_is_not_known_has_children) {
  LifeTable lives;
  const LifeId child = lives.fork({}, 10, 11);
  EXPECT_EQ(lives.at(child).parent_pid, 10U);
  EXPECT_FALSE(lives.at(child).exe.valid());
}

}  // namespace
}  // namespace memtrace
