// The ledger of each process: what it had, what has changed, and what /proc says it has now.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "state/world/resident_snapshot.h"
#include "views/resident/resident_count.h"
#include "views/resident/rss_ledger.h"

namespace memtrace {

struct LedgerProcess {
  std::uint32_t pid = 0;
  std::string comm;
  std::optional<std::int64_t> begin;  // none: it ran, and nobody looked
  std::optional<std::int64_t> end;
  std::int64_t peak = 0;
  bool is_ended = false;
  // It has ended, and events show that it gave all back. Else what it had then is not known.
  bool is_end_seen = false;
  RssSums sums;
  std::map<std::string, RssSums> mappings;       // by name
  std::optional<ResidentSnapshot::Parts> first;  // as /proc said; none for what did not run then
  std::optional<ResidentSnapshot::Parts> last;
  std::optional<std::uint64_t> first_swap, last_swap;
  std::int64_t while_read = 0;  // changes while /proc was read at the start
};

class LedgerProcesses {
 public:
  // `ledger`: null for a recording without kmem:rss_stat; then faults and the two readings of
  // /proc/PID/pagemap explain it.
  std::vector<LedgerProcess> take(const World& world,
                                  const RssLedger* ledger,
                                  std::uint64_t end_ns);

 private:
  using Processes = std::map<std::uint32_t, LedgerProcess>;
  using Touches = std::map<std::pair<std::uint32_t, std::string>, RssSums>;  // by pid and mapping

  void add_readings(const World& world, std::uint64_t end_ns, Processes& processes) const;
  static void add_accounts(const World& world, const RssLedger& ledger, Processes& processes);
  void add_touches(const World& world, std::uint64_t end_ns, Processes& processes);
  static void add_pages(const ResidentCount& count, const std::string& whole, Touches& now);
  static void settle(const World& world, LedgerProcess& process);

  std::map<std::uint32_t, ResidentSnapshot> former_;  // at the end of the last report
  Touches former_touches_;
  bool has_reported_ = false;
};

}  // namespace memtrace
