#include "views/stalls/pressure_window.h"

#include <algorithm>

namespace memtrace {

PressureWindow::PressureWindow(std::uint64_t window_ns)
    : slot_ns_(std::max<std::uint64_t>(window_ns / kSlots, 1)) {}

void PressureWindow::drop_oldest() {
  const Slot& oldest = slots_.front();
  for (const auto& [actor, pressure] : oldest.sums) {
    const auto sum = sums_.find(actor);
    if (sum == sums_.end()) {
      continue;  // it gave back here all that it took, and had nothing else when its sum became 0
    }
    sum.value().pages -= pressure.pages;
    sum.value().dirtied -= pressure.dirtied;
    if (sum->second.pages == 0 && sum->second.dirtied == 0) {
      sums_.erase(sum);
    }
  }
  for (const std::uint64_t page : oldest.taken) {
    const auto taken = taken_.find(page);
    if (taken != taken_.end() && taken->second.slot == first_slot_) {
      taken_.erase(taken);
    }
  }
  listed_ -= oldest.taken.size();
  slots_.pop_front();
  ++first_slot_;
}

void PressureWindow::move_to(std::uint64_t time_ns) {
  const std::uint64_t ahead = slots_.empty() ? 1 : (time_ns - end_ns_) / slot_ns_ + 1;
  for (std::uint64_t i = 0; i < std::min(ahead, kSlots); ++i) {
    if (slots_.size() == kSlots) {
      drop_oldest();
    }
    slots_.emplace_back();
  }
  end_ns_ = time_ns / slot_ns_ * slot_ns_ + slot_ns_;
}

void PressureWindow::add(Slot& slot, std::uint32_t actor, const Pressure& more) {
  for (Sums* sums : {&slot.sums, &sums_}) {
    const auto sum = sums->try_emplace(actor).first;
    sum.value().pages += more.pages;
    sum.value().dirtied += more.dirtied;
  }
}

void PressureWindow::allocate(std::uint32_t actor, std::uint64_t page, std::uint64_t pages) {
  Slot& slot = slots_.back();
  add(slot, actor, {.pages = static_cast<std::int64_t>(pages)});
  if (listed_ >= kMaxTakenPages) {
    ++forgotten_;
    return;
  }
  taken_[page] = {.actor = actor, .slot = first_slot_ + slots_.size() - 1, .pages = pages};
  slot.taken.push_back(page);
  ++listed_;
}

std::optional<std::uint32_t> PressureWindow::give_back(std::uint64_t page, std::uint64_t pages) {
  const auto found = taken_.find(page);
  if (found == taken_.end()) {
    return std::nullopt;
  }
  const Taken taken = found->second;
  const auto freed = static_cast<std::int64_t>(std::min(pages, taken.pages));
  add(slots_[taken.slot - first_slot_], taken.actor, {.pages = -freed});
  taken_.erase(found);
  return taken.actor;
}

void PressureWindow::dirty(std::uint32_t actor, std::uint64_t pages) {
  add(slots_.back(), actor, {.dirtied = static_cast<std::int64_t>(pages)});
}

}  // namespace memtrace
