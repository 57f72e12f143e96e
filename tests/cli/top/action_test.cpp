#include "cli/top/action.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(KeyBindings, each_key_has_one_action_and_each_shown_one_a_help) {
  for (const KeyBinding& binding : key_bindings()) {
    EXPECT_EQ(action_of({.kind = binding.kind, .character = binding.character}), binding.action)
        << "two lines of the table are of one key";
    EXPECT_EQ(binding.shown.empty(), binding.help.empty()) << binding.shown;
  }
  EXPECT_FALSE(action_of({.character = 'Z'}));
  EXPECT_FALSE(action_of({.kind = KeyKind::Click}));
}

}  // namespace
}  // namespace memtrace
