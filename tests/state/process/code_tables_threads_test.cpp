// Two threads that use the same tables of code.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "state/process/code_tables.h"

namespace memtrace {
namespace {

constexpr std::size_t kStacks = 5000;

struct Made {
  std::vector<StackId> ids;
  std::size_t wrong = 0;
};

// All threads make the same stacks, each in an order of its own.
Made make_stacks(CodeTables& code, std::size_t first) {
  Made made{.ids = std::vector<StackId>(kStacks)};
  for (std::size_t n = 0; n < kStacks; ++n) {
    const std::size_t number = (first + n) % kStacks;
    std::minstd_rand random(static_cast<unsigned>(number + 1));
    std::vector<LocationId> places;
    for (std::size_t depth = 0; depth < 1 + number % 20; ++depth) {
      const ModuleId module =
          code.modules.intern({.kind = ModuleKind::File, .path = std::to_string(random() % 50)});
      places.push_back(code.stacks.intern(CodeLocation{module, false, random() % 100}));
    }
    const StackId id = code.stacks.intern(places);
    made.ids[number] = id;
    made.wrong += code.stacks.locations(id) == places ? 0 : 1;
    for (const LocationId place : places) {
      made.wrong += code.modules.at(code.stacks.location(place).module).path.empty() ? 1 : 0;
    }
  }
  return made;
}

TEST(CodeTablesTest, threads_get_the_same_ids_for_the_same_stacks) {
  CodeTables code;
  std::array<Made, 2> made;
  std::thread other([&code, &made] { made[0] = make_stacks(code, 0); });
  made[1] = make_stacks(code, kStacks / 3);
  other.join();
  EXPECT_EQ(made[0].ids, made[1].ids);
  EXPECT_EQ(made[0].wrong + made[1].wrong, 0U);
}

}  // namespace
}  // namespace memtrace
