#include "state/process/identity_table.h"

#include "state/process/container_name.h"

namespace memtrace {

IdentityId IdentityTable::intern(std::uint32_t uid, std::string_view cgroup) {
  const StringId path = texts_.intern(cgroup);
  const auto [known, is_new] = ids_.try_emplace({uid, path});
  if (!is_new) {
    return known->second;
  }
  const IdentityId id{static_cast<std::uint32_t>(entries_.size() + 1)};
  known->second = id;
  Entry& entry = entries_.emplace_back(Entry{.uid = uid, .cgroup = path});
  if (uid != kUnknownUser) {
    entry.same_user = first_of_user_.try_emplace(uid, id).first->second;
  }
  if (!cgroup.empty()) {
    entry.container = texts_.intern(container_name(cgroup));
    entry.same_cgroup = first_of_cgroup_.try_emplace(path, id).first->second;
    entry.same_container = first_of_container_.try_emplace(entry.container, id).first->second;
    entry.unit = texts_.intern(unit_name(cgroup));
    entry.same_unit = first_of_unit_.try_emplace(entry.unit, id).first->second;
  }
  return id;
}

std::string IdentityTable::user(IdentityId id) const {
  if (!knows_user(id)) {
    return "";
  }
  const auto name = user_names_.find(uid(id));
  return name == user_names_.end() ? std::to_string(uid(id)) : name->second;
}

void IdentityTable::name_user(std::uint32_t uid, std::string_view name) {
  user_names_.insert_or_assign(uid, std::string(name));
}

}  // namespace memtrace
