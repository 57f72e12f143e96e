// What the history of a row says of its blocks: whether they leak.
#pragma once

#include <cstdint>
#include <string_view>

#include "views/leak/site_history.h"

namespace memtrace {

enum class Verdict : std::uint8_t {
  Unknown,     // too little happened, or not long enough ago
  Leak,        // most blocks are freed soon, and some never, all the time
  Uncertain,   // a leak or growth, if the frees of the blocks are not among the lost events
  Growing,     // more and more is live, and blocks are not usually freed soon
  WarmingUp,   // the same, but slower and slower
  Cache,       // blocks are freed as others are allocated
  StartUp,     // allocated in the first half of the recording, and none since
  Fragmented,  // few bytes are left, but they keep many pages
};

// "" for Unknown.
std::string_view name_of(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::Unknown;
  std::uint64_t growth_per_min_bytes = 0;  // 0 unless what is live grows beyond doubt
};

Judgement judge(const SiteHistory& history);

// The same where it is also known how many bytes the live blocks have, and how many their pages.
Judgement judge(const SiteHistory& history, std::uint64_t live_bytes, std::uint64_t pinned_bytes);

}  // namespace memtrace
