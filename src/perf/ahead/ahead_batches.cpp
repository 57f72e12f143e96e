#include "perf/ahead/ahead_batches.h"

#include <algorithm>

namespace memtrace {

AheadBatches::AheadBatches(std::size_t count) : readers_(1) {
  for (std::size_t i = 0; i < count; ++i) {
    all_.push_back(std::make_unique<Owned>());
    empty_.push_back(all_.back().get());
  }
}

std::size_t AheadBatches::add_reader() {
  const std::lock_guard lock(mutex_);
  readers_.push_back({.full = readers_.front().full});
  for (Owned* owned : readers_.back().full) {
    ++owned->users;
  }
  return readers_.size() - 1;
}

AheadBatches::Batch* AheadBatches::take_empty() {
  std::unique_lock lock(mutex_);
  moved_.wait(lock, [this] { return !empty_.empty() || is_stopping_; });
  if (is_stopping_) {
    return nullptr;
  }
  Owned* owned = empty_.back();
  empty_.pop_back();
  return &owned->batch;
}

void AheadBatches::give(Batch& full) {
  const std::lock_guard lock(mutex_);
  const auto given =
      std::ranges::find_if(all_, [&full](const auto& owned) { return &owned->batch == &full; });
  for (Reader& reader : readers_) {
    if (!reader.has_left) {
      reader.full.push_back(given->get());
      ++(*given)->users;
    }
  }
  moved_.notify_all();
}

bool AheadBatches::wait_for_readers() {
  std::unique_lock lock(mutex_);
  const auto is_idle = [](const Reader& reader) {
    return reader.has_left || (reader.waits && reader.full.empty());
  };
  moved_.wait(lock, [&] { return std::ranges::all_of(readers_, is_idle) || is_stopping_; });
  return !is_stopping_;
}

const AheadBatches::Batch* AheadBatches::take(std::size_t reader, const Batch* used) {
  std::unique_lock lock(mutex_);
  Reader& own = readers_[reader];
  if (used != nullptr) {
    release(*used);
  }
  own.waits = true;
  moved_.notify_all();
  moved_.wait(lock, [&] { return !own.full.empty() || is_stopping_; });
  own.waits = false;
  if (own.full.empty()) {
    return nullptr;
  }
  const Owned* next = own.full.front();
  own.full.pop_front();
  return &next->batch;
}

void AheadBatches::leave(std::size_t reader, const Batch* used) {
  const std::lock_guard lock(mutex_);
  Reader& own = readers_[reader];
  own.has_left = true;
  if (used != nullptr) {
    release(*used);
  }
  for (const Owned* owned : own.full) {
    release(owned->batch);
  }
  own.full.clear();
  is_stopping_ = is_stopping_ || std::ranges::all_of(readers_, &Reader::has_left);
  moved_.notify_all();
}

void AheadBatches::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  moved_.notify_all();
}

void AheadBatches::release(const Batch& used) {
  const auto owned =
      std::ranges::find_if(all_, [&used](const auto& other) { return &other->batch == &used; });
  if (--(*owned)->users == 0) {
    empty_.push_back(owned->get());
  }
}

}  // namespace memtrace
