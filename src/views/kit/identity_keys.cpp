#include "views/kit/identity_keys.h"

#include <algorithm>
#include <array>
#include <string>

#include "views/kit/cells.h"

namespace memtrace {
namespace {

std::uint64_t identity_of(const Event& event) {
  return event.identity.value;
}

std::uint64_t identity_of_block(const LiveBlock& block) {
  return block.identity.value;
}

IdentityId identity_in(std::uint64_t word) {
  return IdentityId{static_cast<std::uint32_t>(word)};
}

// The word is an identity; once settled, the one that represents all of the same user, cgroup or
// container.
template <auto Same>
std::uint64_t resolve_late(std::uint64_t word, const CellContext& context) {
  const IdentityId id = identity_in(word);
  return id.valid() ? (context.world.identities().*Same)(id).value : 0;
}

// What is not known stays blank.
template <auto Knows, auto Text>
Cell text_cell(std::uint64_t word, const CellContext& context) {
  const IdentityTable& identities = context.world.identities();
  const IdentityId id = identity_in(word);
  return (identities.*Knows)(id) ? cell_of((identities.*Text)(id)) : Cell();
}

Cell uid_cell(std::uint64_t word, const CellContext& context) {
  const IdentityTable& identities = context.world.identities();
  const IdentityId id = identity_in(word);
  return identities.knows_user(id) ? cell_of(identities.uid(id)) : Cell();
}

std::uint64_t life_of(const Event& event) {
  return event.life.value;
}

std::uint64_t life_of_block(const LiveBlock& block) {
  return block.life.value;
}

LifeId life_in(std::uint64_t word) {
  return LifeId{static_cast<std::uint32_t>(word)};
}

template <auto Member>
std::uint64_t settle_life(std::uint64_t word, const CellContext& context) {
  return word == 0 ? 0 : context.world.processes().lives().same<Member>(life_in(word)).value;
}

template <auto Member>
Cell life_text_cell(std::uint64_t word, const CellContext& context) {
  return word == 0
             ? Cell()
             : text_of(context.world, context.world.processes().lives().at(life_in(word)).*Member);
}

Cell parent_cell(std::uint64_t word, const CellContext& context) {
  return word == 0 ? Cell()
                   : unless_zero(context.world.processes().lives().at(life_in(word)).parent_pid);
}

constexpr auto kKeys = std::to_array<KeySpec>({
    {.name = "user",
     .unit = Unit::Text,
     .of = identity_of,
     .of_block = identity_of_block,
     .cell = text_cell<&IdentityTable::knows_user, &IdentityTable::user>,
     .resolve_late = resolve_late<&IdentityTable::same_user>},
    {.name = "uid",
     .unit = Unit::Number,
     .of = identity_of,
     .of_block = identity_of_block,
     .cell = uid_cell,
     .resolve_late = resolve_late<&IdentityTable::same_user>},
    {.name = "cgroup",
     .unit = Unit::Text,
     .of = identity_of,
     .of_block = identity_of_block,
     .cell = text_cell<&IdentityTable::knows_cgroup, &IdentityTable::cgroup>,
     .resolve_late = resolve_late<&IdentityTable::same_cgroup>},
    {.name = "container",
     .unit = Unit::Text,
     .of = identity_of,
     .of_block = identity_of_block,
     .cell = text_cell<&IdentityTable::knows_cgroup, &IdentityTable::container>,
     .resolve_late = resolve_late<&IdentityTable::same_container>},
    {.name = "unit",
     .unit = Unit::Text,
     .of = identity_of,
     .of_block = identity_of_block,
     .cell = text_cell<&IdentityTable::knows_unit, &IdentityTable::unit>,
     .resolve_late = resolve_late<&IdentityTable::same_unit>},
    {.name = "exe",
     .unit = Unit::Text,
     .of = life_of,
     .of_block = life_of_block,
     .cell = life_text_cell<&Life::exe>,
     .resolve_late = settle_life<&Life::exe>},
    {.name = "command",
     .unit = Unit::Text,
     .of = life_of,
     .of_block = life_of_block,
     .cell = life_text_cell<&Life::command>,
     .resolve_late = settle_life<&Life::command>},
    {.name = "ppid",
     .unit = Unit::Number,
     .of = life_of,
     .of_block = life_of_block,
     .cell = parent_cell,
     .resolve_late = settle_life<&Life::parent_pid>},
});

bool is_identity_key(std::string_view name) {
  return std::ranges::find(kKeys, name, &KeySpec::name) != kKeys.end();
}

}  // namespace

std::span<const KeySpec> identity_keys() {
  return kKeys;
}

bool takes_key(std::span<const std::string_view> names, std::string_view name) {
  const auto has = [names](std::string_view each) {
    return std::ranges::find(names, each) != names.end();
  };
  return has(name) || (is_identity_key(name) && has("pid"));
}

bool ViewOptions::asks_identity() const {
  return tasks.asks_identity() || std::ranges::any_of(by, is_identity_key);
}

bool ViewOptions::has_user_key() const {
  return std::ranges::any_of(by,
                             [](std::string_view key) { return key == "user" || key == "uid"; });
}

bool ViewOptions::has_cgroup_key() const {
  return std::ranges::any_of(by, [](std::string_view key) {
    return key == "cgroup" || key == "container" || key == "unit";
  });
}

}  // namespace memtrace
