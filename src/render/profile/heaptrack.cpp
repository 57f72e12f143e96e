// heaptrack's data file, format 3, for heaptrack_print and heaptrack_gui. It is a list of calls,
// and a report has sums: calls are made up that have the same sums. For each stack these are right:
// calls, temporary ones, bytes at the peak, bytes and blocks that are not freed. Sizes of single
// blocks are averages, and there are two moments: the peak and the end. Made from the heap view
// alone.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/visible.h"
#include "render/profile/profile_formats.h"
#include "render/profile/stack_profile.h"

namespace memtrace {
namespace {

// What the heap view says of one stack.
struct HeapRow {
  std::uint64_t trace = 0;
  std::uint64_t allocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t peak = 0;
  std::uint64_t leaked = 0;
  std::uint64_t leaked_count = 0;
  std::uint64_t temporary = 0;
};

// Blocks of a row that have the same size but for one byte.
struct BlockSet {
  std::uint64_t trace = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// How the blocks of a row live.
struct Lives {
  BlockSet stays;       // from before the peak to the end
  BlockSet only_peak;   // live at the peak
  BlockSet after_peak;  // allocated behind it, to the end
  BlockSet temporary;   // freed by the next call
  BlockSet others;      // freed before the peak
};

// Blocks that are live at the peak or at the end.
Lives lives_at_moments(const HeapRow& row) {
  Lives lives;
  const auto set = [&row](std::uint64_t count, std::uint64_t bytes) {
    return BlockSet{row.trace, count, bytes};
  };
  if (row.peak >= row.leaked) {
    lives.stays = set(row.leaked_count, row.leaked);
    const bool is_more = row.peak > row.leaked && row.allocs > row.leaked_count;
    lives.only_peak = set(is_more ? 1 : 0, is_more ? row.peak - row.leaked : 0);
  } else if (row.leaked_count > 1 && row.peak > 0) {
    lives.stays = set(1, row.peak);
    lives.after_peak = set(row.leaked_count - 1, row.leaked - row.peak);
  } else {
    const bool was_other = row.peak > 0 && row.allocs > row.leaked_count;
    lives.only_peak = set(was_other ? 1 : 0, was_other ? row.peak : 0);
    lives.after_peak = set(row.leaked_count, row.leaked);
  }
  return lives;
}

Lives lives_of(const HeapRow& row) {
  Lives lives = lives_at_moments(row);
  std::uint64_t count = row.allocs;
  std::uint64_t bytes = row.bytes;
  for (const BlockSet* used : {&lives.stays, &lives.only_peak, &lives.after_peak}) {
    count -= std::min(count, used->count);
    bytes -= std::min(bytes, used->bytes);
  }
  const std::uint64_t temporary = std::min(row.temporary, count);
  const std::uint64_t temporary_bytes = count == 0 ? 0 : bytes / count * temporary;
  const std::uint64_t other_bytes = count == temporary ? 0 : bytes - temporary_bytes;
  lives.temporary = {row.trace, temporary, temporary_bytes};
  lives.others = {row.trace, count - temporary, other_bytes};
  return lives;
}

// Makes the tables of the file, whose numbers are hexadecimal and begin with 1, and calls.
class HeaptrackFile {
 public:
  HeaptrackFile(const Report& report, std::ostream& out) : report_(report), out_(out) {
    out_ << "v 10400 3\nX " << visible(report.origin.target) << '\n';
  }

  // The number of the innermost step's trace.
  std::uint64_t trace(const WeightedStack& stack) {
    std::uint64_t parent = 0;
    for (const ProfileStep& step : stack.steps) {
      const std::pair<std::uint64_t, std::uint64_t> key = {place(step), parent};
      const auto [found, is_new] = traces_.try_emplace(key, traces_.size() + 1);
      if (is_new) {
        out_ << fmt::format("t {:x} {:x}\n", key.first, key.second);
      }
      parent = found->second;
    }
    return parent;
  }

  void allocate(const BlockSet& blocks) {
    for_each_size(blocks, [this](std::uint64_t info, std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        out_ << fmt::format("+ {:x}\n", info);
      }
    });
  }

  // Not by the next call: see allocate_and_free().
  void free(const BlockSet& blocks) {
    for_each_size(blocks, [this](std::uint64_t info, std::uint64_t count) {
      const std::uint64_t twin = twin_of(info);
      for (std::uint64_t i = 0; i < count; ++i) {
        out_ << fmt::format("- {:x}\n", twin);
      }
    });
  }

  // heaptrack takes a block for temporary if the number behind "-" is that behind the "+" before
  // it. A twin is another number for the same size and stack.
  void allocate_and_free(const BlockSet& blocks, bool is_temporary) {
    for_each_size(blocks, [this, is_temporary](std::uint64_t info, std::uint64_t count) {
      const std::uint64_t freed = is_temporary ? info : twin_of(info);
      for (std::uint64_t i = 0; i < count; ++i) {
        out_ << fmt::format("+ {:x}\n- {:x}\n", info, freed);
      }
    });
  }

  void set_time(std::uint64_t at_ns) {
    constexpr std::uint64_t kMillisecondInNs = 1'000'000;
    out_ << fmt::format("c {:x}\n", at_ns / kMillisecondInNs);
  }

 private:
  std::uint64_t text(const std::string& text) {
    if (text.empty()) {
      return 0;
    }
    const auto [found, is_new] = texts_.try_emplace(text, texts_.size() + 1);
    if (is_new) {
      out_ << fmt::format("s {:x} {}\n", text.size(), text);
    }
    return found->second;
  }

  std::string file_of(const Frame& frame) const {
    const auto module = report_.modules.find(frame.file_id);
    return visible(module == report_.modules.end() ? frame.module : module->second.path);
  }

  std::uint64_t place(const ProfileStep& step) {
    const Frame none;
    const Frame& frame = step.frame == nullptr ? none : *step.frame;
    const std::vector<std::uint64_t> key = {frame.address,
                                            text(file_of(frame)),
                                            text(step.name),
                                            text(visible(frame.file)),
                                            frame.line};
    const auto [found, is_new] = places_.try_emplace(key, places_.size() + 1);
    if (is_new) {
      out_ << fmt::format("i {:x} {:x} {:x} {:x} {:x}\n", key[0], key[1], key[2], key[3], key[4]);
    }
    return found->second;
  }

  // The bytes are dealt out evenly: some blocks have one more than the others.
  template <typename Use>
  void for_each_size(const BlockSet& blocks, const Use& use) {
    if (blocks.count == 0) {
      return;
    }
    const std::uint64_t bytes = blocks.bytes / blocks.count;
    const std::uint64_t larger_count = blocks.bytes % blocks.count;
    if (larger_count > 0) {
      use(info({bytes + 1, blocks.trace}), larger_count);
    }
    use(info({bytes, blocks.trace}), blocks.count - larger_count);
  }

  using InfoKey = std::pair<std::uint64_t, std::uint64_t>;  // size, trace

  // Numbers of these begin with 0.
  std::uint64_t info(const InfoKey& key) {
    const auto found = infos_.find(key);
    if (found != infos_.end()) {
      return found->second;
    }
    return infos_[key] = add_info(key);
  }

  std::uint64_t twin_of(std::uint64_t info) {
    const auto [found, is_new] = twins_.try_emplace(info, 0);
    if (is_new) {
      found->second = add_info(info_keys_[info]);
    }
    return found->second;
  }

  std::uint64_t add_info(InfoKey key) {
    out_ << fmt::format("a {:x} {:x}\n", key.first, key.second);
    info_keys_.push_back(key);
    return info_keys_.size() - 1;
  }

  const Report& report_;
  std::ostream& out_;
  std::unordered_map<std::string, std::uint64_t> texts_;
  std::map<std::vector<std::uint64_t>, std::uint64_t> places_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> traces_;
  std::map<InfoKey, std::uint64_t> infos_;
  std::vector<InfoKey> info_keys_;
  std::map<std::uint64_t, std::uint64_t> twins_;
};

std::uint64_t weight_named(const StackProfile& profile,
                           const WeightedStack& stack,
                           std::string_view name) {
  const auto found = std::ranges::find(profile.kinds, name, &WeightKind::name);
  if (found == profile.kinds.end()) {
    return 0;
  }
  const auto kind = static_cast<std::size_t>(found - profile.kinds.begin());
  return static_cast<std::uint64_t>(std::max<std::int64_t>(stack.weights[kind], 0));
}

std::vector<Lives> all_lives(const StackProfile& profile, HeaptrackFile& file) {
  std::vector<Lives> lives;
  for (const WeightedStack& stack : profile.stacks) {
    lives.push_back(lives_of({.trace = file.trace(stack),
                              .allocs = weight_named(profile, stack, "allocs"),
                              .bytes = weight_named(profile, stack, "bytes"),
                              .peak = weight_named(profile, stack, "peak"),
                              .leaked = weight_named(profile, stack, "leaked"),
                              .leaked_count = weight_named(profile, stack, "leaked_count"),
                              .temporary = weight_named(profile, stack, "temporary")}));
  }
  return lives;
}

std::uint64_t peak_at_ns(const Report& report) {
  const auto found = std::ranges::find(report.totals, "peak_at_ns", &Total::name);
  return found == report.totals.end() ? 0 : found->value;
}

class HeaptrackRenderer final : public Renderer {
 public:
  void render(const Report& report, std::ostream& out) const override {
    const auto profiles = stack_profiles(report);
    HeaptrackFile file(report, out);
    if (profiles.empty()) {
      return;
    }
    const std::vector<Lives> all = all_lives(profiles.front(), file);
    file.set_time(0);
    for (const Lives& lives : all) {
      file.allocate_and_free(lives.temporary, true);
      file.allocate_and_free(lives.others, false);
    }
    file.set_time(peak_at_ns(report));
    for (const Lives& lives : all) {
      file.allocate(lives.stays);
      file.allocate(lives.only_peak);
    }
    file.set_time(report.end_ns - report.start_ns);
    for (const Lives& lives : all) {
      file.free(lives.only_peak);
    }
    for (const Lives& lives : all) {
      file.allocate(lives.after_peak);
    }
  }
};

}  // namespace

std::unique_ptr<Renderer> make_heaptrack_renderer(const RenderOptions&) {
  return std::make_unique<HeaptrackRenderer>();
}

}  // namespace memtrace
