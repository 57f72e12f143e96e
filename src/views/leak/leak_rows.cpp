#include "views/leak/leak_rows.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/units.h"
#include "views/leak/pinned_pages.h"

namespace memtrace {
namespace {

constexpr auto kFigures = std::to_array<Figure<LeakCost>>({
    figure<&LeakCost::count>("count"),
    figure<&LeakCost::bytes>("bytes", Unit::Bytes),
    mean_figure<&LeakCost::sum_age_ns, &LeakCost::count>("avg_age_ns", Unit::Nanoseconds),
    figure<&LeakCost::oldest_ns, &Largest::value>("oldest_ns", Unit::Nanoseconds),
});

Judgement judgement_of(const LeakCost& cost) {
  return judge(cost.history, cost.bytes, cost.pinned_bytes);
}

constexpr Figure<LeakCost> kPinned = figure<&LeakCost::pinned_bytes>("pinned", Unit::Bytes);
constexpr Figure<LeakCost> kAtLeast = figure<&LeakCost::at_least_bytes>("at_least", Unit::Bytes);

Cell growth_cell(const LeakCost& cost, const CellContext& /*context*/) {
  const Judgement judgement = judgement_of(cost);
  return when(judgement.verdict != Verdict::Unknown, judgement.growth_per_min_bytes);
}

Cell half_life_cell(const LeakCost& cost, const CellContext& /*context*/) {
  return when(cost.history.half_life_ns());
}

Cell freed_cell(const LeakCost& cost, const CellContext& /*context*/) {
  const SiteHistory& history = cost.history;
  return percent_cell(std::min(history.freed().count, history.allocated().count),
                      history.allocated().count);
}

Cell verdict_cell(const LeakCost& cost, const CellContext& /*context*/) {
  return unless_empty(name_of(judgement_of(cost).verdict));
}

constexpr auto kJudgedFigures = std::to_array<Figure<LeakCost>>({
    {"growth_per_min", Unit::Bytes, growth_cell},
    {"half_life_ns", Unit::Nanoseconds, half_life_cell},
    {"freed", Unit::Percent, freed_cell},
    {"verdict", Unit::Text, verdict_cell},
});

Figure<LeakCost> left_empty(Figure<LeakCost> figure) {
  figure.of = [](const LeakCost& /*cost*/, const CellContext& /*context*/) { return Cell(); };
  return figure;
}

bool is_older(const LiveBlock* left, const LiveBlock* right) {
  return std::pair(left->time_ns, left->key) < std::pair(right->time_ns, right->key);
}

}  // namespace

Result<std::uint64_t> parse_older_ns(const ViewOptions& options) {
  const auto older = options.own.find(std::string(kOlderOption.name));
  if (older == options.own.end()) {
    return std::uint64_t{0};
  }
  const auto age_ns = parse_duration_ns(older->second);
  if (!age_ns) {
    return Error{.message = "--older " + older->second + ": not a duration",
                 .hint = "give seconds (5, 0.5) or a unit (200ms, 3s, 2m, 1h)",
                 .kind = ErrorKind::Usage};
  }
  return *age_ns;
}

std::uint64_t age_ns(const LiveBlock& block, View::Span span) {
  return span.end_ns > block.time_ns ? span.end_ns - block.time_ns : 0;
}

template <typename Test>
bool LeakRows::has_row(Test test) const {
  bool found = false;
  rows_.for_each_row([&](const KeyWords& /*words*/, const LeakCost& cost) {
    found = found || (!cost.empty() && test(judgement_of(cost)));
  });
  return found && has_frees_;
}

void LeakRows::note_loss(std::uint64_t time_ns) {
  if (time_ns > last_loss_ns_) {
    last_loss_ns_ = time_ns;
    timeline_.lose(time_ns);
  }
}

void LeakRows::set(std::vector<const LiveBlock*> blocks, View::Span span) {
  clear();
  timeline_.reach(span.end_ns);
  blocks_ = std::move(blocks);
  // The error compares each window with the one before it (kit/sample_spread.h).
  if (std::ranges::any_of(blocks_, [](const LiveBlock* block) { return block->weight > 1; })) {
    std::ranges::stable_sort(blocks_, {}, &LiveBlock::time_ns);
  }
  for (const LiveBlock* block : blocks_) {
    const std::uint64_t age = age_ns(*block, span);
    const std::uint64_t bytes = block->weight * block->bytes;
    LeakCost& row = rows_.row(*block);
    row.count += block->weight;
    row.bytes += bytes;
    row.at_least_bytes += block->time_ns > last_loss_ns_ ? bytes : 0;
    row.sum_age_ns += block->weight * age;
    row.oldest_ns += {age};
    if (!block->is_inherited) {
      row.history.note_survivor(block->time_ns, block->weight);
    }
    sizes_.add(rows_.keys(), *block, block->bytes, block->weight);
  }
}

void LeakRows::note_unlisted(const std::vector<const LiveBlock*>& blocks) {
  for (const LiveBlock* block : blocks) {
    rows_.row(*block).history.note_survivor(block->time_ns, block->weight);
  }
}

void LeakRows::note_pages(const std::vector<const LiveBlock*>& all, std::uint64_t page_size_bytes) {
  const PinnedPages pages(all, page_size_bytes);
  for (const LiveBlock* block : blocks_) {
    rows_.row(*block).pinned_bytes += pages.bytes_kept_by(*block);
  }
}

void LeakRows::clear() {
  blocks_.clear();
  if (judging_ == Judging::No) {
    rows_.clear();
    return;
  }
  rows_.for_each([](LeakCost& cost) {
    SiteHistory history = std::move(cost.history);
    history.forget_survivors();
    cost = {.history = std::move(history)};
  });
}

Table& LeakRows::add_to(Report& report, const CellContext& context) {
  LeakCost sum;
  rows_.for_each_row([&sum](const KeyWords& /*words*/, const LeakCost& cost) {
    sum.count += cost.count;
    sum.bytes += cost.bytes;
  });
  report.totals = totals_of(std::span(kFigures).first(2), sum, context);
  return report.tables.emplace_back(table(context));
}

Table LeakRows::table(const CellContext& context) {
  std::vector<Figure<LeakCost>> figures(kFigures.begin(), kFigures.end());
  if (last_loss_ns_ != 0) {
    figures.insert(std::next(figures.begin(), 2), kAtLeast);
  }
  if (has_row([](const Judgement& judged) { return judged.verdict == Verdict::Fragmented; })) {
    figures.insert(std::next(figures.begin(), 2), kPinned);
  }
  if (judging_ == Judging::Yes) {
    std::ranges::transform(
        kJudgedFigures, std::back_inserter(figures), [this](const Figure<LeakCost>& figure) {
          return has_frees_ ? figure : left_empty(figure);
        });
  }
  Table table = rows_.table(figures, context);
  sort_by(table, "bytes");
  sizes_.move_into(table, rows_.keys(), context);
  return table;
}

bool LeakRows::has_leak() const {
  return has_row([](const Judgement& judged) { return judged.verdict == Verdict::Leak; });
}

void LeakRows::sort_by_growth(Table& table) const {
  if (has_row([](const Judgement& judged) { return judged.growth_per_min_bytes > 0; })) {
    table.sort = "growth_per_min";
  }
}

Table LeakRows::address_table(const CellContext& context, std::size_t most) const {
  std::vector<const LiveBlock*> blocks = blocks_;
  const std::size_t count = std::min(blocks.size(), most);
  std::partial_sort(blocks.begin(),
                    std::next(blocks.begin(), static_cast<std::ptrdiff_t>(count)),
                    blocks.end(),
                    is_older);
  Table table{.title = "outstanding blocks, oldest first",
              .columns = {{"address", Unit::Address}},
              .note = unlisted_note(blocks.size() - count),
              .fixed = true};
  std::ranges::move(address_keys_.columns(), std::back_inserter(table.columns));
  table.key_count = table.columns.size();
  table.columns.push_back({"bytes", Unit::Bytes});
  table.columns.push_back({"age_ns", Unit::Nanoseconds});
  for (const LiveBlock* block : std::span(blocks).first(count)) {
    const KeyWords keys = address_keys_.resolve_late(address_keys_.of(*block), context);
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(block->key);
    std::ranges::move(address_keys_.cells(keys, context), std::back_inserter(row));
    row.emplace_back(block->bytes);
    row.emplace_back(age_ns(*block, context.span));
  }
  return table;
}

}  // namespace memtrace
