// How much of a row was live at the moment when the sum over all rows was largest: exact, without
// a copy of all rows at each new peak. A row is brought up to date when it is next touched: until
// then it is as it was at the peak.
//
//   live of all rows    /\__      peak 1, then a higher peak 2; a row not touched since
//                      /    \/\   peak 2 has, now as then, what it has live
#pragma once

#include <cstdint>

namespace memtrace {

struct PeakRow {
  std::uint64_t live_bytes = 0;
  std::uint64_t live_count = 0;
  std::uint64_t peak_bytes = 0;  // valid for the peak with this number
  std::uint64_t peak_count = 0;
  std::uint64_t peak_number = 0;
};

class PeakTracker {
 public:
  void allocate(PeakRow& row, std::uint64_t bytes, std::uint64_t count, std::uint64_t time_ns) {
    catch_up(row);
    row.live_bytes += bytes;
    row.live_count += count;
    live_bytes_ += bytes;
    live_count_ += count;
    if (live_bytes_ > peak_bytes_) {
      peak_bytes_ = live_bytes_;
      peak_time_ns_ = time_ns;
      ++peak_number_;
    }
  }

  void free(PeakRow& row, std::uint64_t bytes, std::uint64_t count) {
    catch_up(row);
    row.live_bytes -= bytes;
    row.live_count -= count;
    live_bytes_ -= bytes;
    live_count_ -= count;
  }

  // Makes peak_bytes and peak_count those of the peak so far.
  void catch_up(PeakRow& row) const {
    if (row.peak_number != peak_number_) {
      row.peak_bytes = row.live_bytes;
      row.peak_count = row.live_count;
      row.peak_number = peak_number_;
    }
  }

  std::uint64_t live_bytes() const { return live_bytes_; }

  std::uint64_t live_count() const { return live_count_; }

  std::uint64_t peak_bytes() const { return peak_bytes_; }

  std::uint64_t peak_time_ns() const { return peak_time_ns_; }

 private:
  std::uint64_t live_bytes_ = 0;
  std::uint64_t live_count_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::uint64_t peak_time_ns_ = 0;
  std::uint64_t peak_number_ = 0;
};

}  // namespace memtrace
