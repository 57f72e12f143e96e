// Events of which it was not known whose they were, and what a report says of them.
#pragma once

#include <cstdint>

#include "report/report.h"
#include "state/process/identity_table.h"
#include "views/view.h"

namespace memtrace {

class UnknownIdentities {
 public:
  // The event was taken; it is of a process of this identity.
  void count(const IdentityTable& identities, IdentityId identity);

  // It was left out by a filter that could not be decided; nothing otherwise.
  void count_left_out(TaskFilter::Verdict verdict);

  // `has_identities`: the source says anything at all about whose processes are.
  void note(const ViewOptions& options, bool has_identities, Caveats& caveats) const;

 private:
  std::uint64_t users_ = 0;
  std::uint64_t cgroups_ = 0;
  // Left out.
  std::uint64_t by_name_ = 0;
  std::uint64_t by_user_ = 0;
  std::uint64_t by_cgroup_ = 0;
};

}  // namespace memtrace
