// Small typed numbers in place of interned values. 0 means none; unlike ids do not compare.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace memtrace {

template <typename Tag>
struct Id {
  std::uint32_t value = 0;

  bool valid() const { return value != 0; }

  // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
  friend auto operator<=>(Id, Id) = default;
};

using StringId = Id<struct StringTag>;      // state/world/world.h: strings()
using ModuleId = Id<struct ModuleTag>;      // state/process/module_table.h
using LocationId = Id<struct LocationTag>;  // state/process/stack_table.h: one place in code
using StackId = Id<struct StackTag>;        // state/process/stack_table.h: one whole stack
using IdentityId = Id<struct IdentityTag>;  // state/process/identity_table.h: a user and a cgroup
using LifeId = Id<struct LifeTag>;          // state/process/life_table.h: from exec to exec

}  // namespace memtrace

template <typename Tag>
struct std::hash<memtrace::Id<Tag>> {
  std::size_t operator()(memtrace::Id<Tag> id) const noexcept { return id.value; }
};
