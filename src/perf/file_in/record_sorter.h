// Puts records of one file into time order. Only 24 bytes for each record are held here; the bytes
// stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace memtrace {

// A recorder writes its rings one after the other, each sorted in itself, so the file is a mix of
// few sorted runs. Records are dealt to runs as cards in patience sorting, which costs one
// comparison for a file that is sorted already:
//
//   added:  1 4 7 | 2 3 9 | 8         runs:  2 3 9        released up to 7:  1 2 3 4 7
//                                            1 4 7 8      left:              8 9
class RecordSorter {
 public:
  struct Entry {
    std::uint64_t time_ns = 0;
    std::uint64_t sequence = 0;  // as added, from 0
    const std::byte* record = nullptr;
  };

  // What becomes of a record that is older than what has been given out already: a sample would
  // come out of order; a mapping or a name is still true, and of use to what comes after it.
  enum class Late : std::uint8_t { Drop, GiveOut };

  // time_ns 0: the record carries no time and stays behind the one before it. The result is the
  // record's sequence, nothing for one that was dropped; late_count() counts them.
  std::optional<std::uint64_t> add(std::uint64_t time_ns,
                                   const std::byte* record,
                                   Late late = Late::Drop);

  // FINISHED_ROUND: what follows is not older than the newest record of the round before.
  void finish_round();

  // No more records will come.
  void finish();

  // The next record in the order of (time, sequence), of those that nothing can precede any more.
  std::optional<Entry> pop();

  std::uint64_t late_count() const { return late_count_; }

 private:
  struct Run {
    std::vector<Entry> entries;
    std::size_t first = 0;  // those before it have been released
  };

  std::size_t run_for(std::uint64_t time_ns);
  void release(std::uint64_t up_to_ns);
  void take_released(Run& run, std::uint64_t up_to_ns);
  void merge_released();

  // By ascending time of their last entries. A file whose records go backwards has a run for each,
  // always the first one.
  std::deque<Run> runs_;
  std::size_t recent_run_ = 0;      // where the last record went
  std::vector<Entry> released_;     // in order
  std::vector<std::size_t> parts_;  // while releasing: where each run's part begins
  std::size_t next_released_ = 0;   // first of released_ that has not been given out
  std::uint64_t next_sequence_ = 0;
  std::uint64_t added_time_ns_ = 0;    // of the last record
  std::uint64_t given_time_ns_ = 0;    // of the last record that went out
  std::uint64_t newest_time_ns_ = 0;   // of all added
  std::uint64_t round_newest_ns_ = 0;  // newest_time_ns_ when the last round ended
  std::uint64_t late_count_ = 0;
};

}  // namespace memtrace
