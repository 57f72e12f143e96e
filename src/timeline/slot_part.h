// What a page may show of a part of a report for a window of time: the rows of the whole recording
// by slot. A figure is left out unless its slots add up to what the whole recording's report says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "report/report.h"
#include "report/timeline.h"
#include "timeline/slot_rows.h"
#include "views/view.h"

namespace memtrace {

class SlotPart {
 public:
  // `whole` is arranged; `slots` has the slot of each round. All of them outlive it.
  SlotPart(const SlotRows& rows,
           const Table& whole,
           const std::vector<std::uint32_t>& slots,
           ViewSpec::ReportOf report_of = ViewSpec::ReportOf::SinceLast);

  // `all_rows`: `whole` was not filtered, so that what it does not list is of interest, too.
  // Nothing where no figure adds up.
  std::optional<Timeline::ReportPart> make(bool all_rows) const;

 private:
  using Joining = Timeline::Joining;
  using Slots = std::vector<Timeline::ReportPart::Slot>;

  struct WholeRow {
    const SlotRows::Row* row = nullptr;
    SlotRows::Figures figures;
  };

  void find_joinings();
  void forget_extremes();
  std::optional<Joining::How> candidate_of(std::size_t figure) const;
  bool adds_up(std::size_t figure, Joining::How how) const;
  double joined(const SlotRows::Row& row, std::size_t figure, Joining::How how) const;
  std::vector<std::size_t> sums_of(Unit unit) const;
  bool is_running(Joining::How how) const;
  bool is_quotient(std::size_t figure, const Joining& mean) const;
  Joining mean_of(std::size_t figure) const;
  void add_to(Slots& slots, const SlotRows::Entry& entry) const;
  Slots slots_of(const SlotRows::Row& row) const;
  void forget_all_but_sums(SlotRows::Figures& figures) const;
  SlotRows::Row changes_of(SlotRows::Row row) const;
  Slots rest(const std::vector<const SlotRows::Row*>& shown, bool all_rows) const;
  std::size_t unknown_rows() const;

  const SlotRows& rows_;
  const std::vector<std::uint32_t>& slots_;
  std::vector<Column> figures_;                     // of the whole
  std::vector<std::optional<std::size_t>> places_;  // of the figures in rounds
  std::vector<WholeRow> whole_;
  ViewSpec::ReportOf report_of_;
  bool is_list_ = false;  // one key has several rows
  std::vector<Joining> joinings_;
};

}  // namespace memtrace
