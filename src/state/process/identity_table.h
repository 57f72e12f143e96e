// Owners of processes: users and control groups. One id means one pair of the two, so that an event
// carries a single small number.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/ids.h"
#include "base/interner.h"

namespace memtrace {

// (uid_t)-1, which no process can have (setresuid(2)).
inline constexpr std::uint32_t kUnknownUser = 0xffffffffU;

class IdentityTable {
 public:
  // kUnknownUser and "" mean not known.
  IdentityId intern(std::uint32_t uid, std::string_view cgroup);

  bool knows_user(IdentityId id) const { return id.valid() && entry(id).uid != kUnknownUser; }

  bool knows_cgroup(IdentityId id) const { return id.valid() && !cgroup(id).empty(); }

  bool knows_unit(IdentityId id) const { return knows_cgroup(id) && !unit(id).empty(); }

  // What follows is asked of valid ids only.
  std::uint32_t uid(IdentityId id) const { return entry(id).uid; }

  // The path within the hierarchy of the memory controller: "/system.slice/ssh.service".
  std::string_view cgroup(IdentityId id) const { return texts_.at(entry(id).cgroup); }

  // The container, or else the systemd unit; see container_name().
  std::string_view container(IdentityId id) const { return texts_.at(entry(id).container); }

  // The systemd unit, "" for none; see unit_name().
  std::string_view unit(IdentityId id) const { return texts_.at(entry(id).unit); }

  // The user's name, or the number where no name is known; "" for a user that is not known.
  std::string user(IdentityId id) const;

  void name_user(std::uint32_t uid, std::string_view name);

  // One identity that represents all with the same user, cgroup or container; none where that is
  // not known.
  IdentityId same_user(IdentityId id) const { return entry(id).same_user; }

  IdentityId same_cgroup(IdentityId id) const { return entry(id).same_cgroup; }

  IdentityId same_container(IdentityId id) const { return entry(id).same_container; }

  IdentityId same_unit(IdentityId id) const { return entry(id).same_unit; }

  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    std::uint32_t uid = 0;
    StringId cgroup;
    StringId container;
    StringId unit;
    IdentityId same_user;
    IdentityId same_cgroup;
    IdentityId same_container;
    IdentityId same_unit;
  };

  const Entry& entry(IdentityId id) const { return entries_[id.value - 1]; }

  std::deque<Entry> entries_;
  std::map<std::pair<std::uint32_t, StringId>, IdentityId> ids_;
  StringTable texts_;
  std::unordered_map<std::uint32_t, IdentityId> first_of_user_;
  std::unordered_map<StringId, IdentityId> first_of_cgroup_;
  std::unordered_map<StringId, IdentityId> first_of_container_;
  std::unordered_map<StringId, IdentityId> first_of_unit_;
  std::unordered_map<std::uint32_t, std::string> user_names_;
};

}  // namespace memtrace
