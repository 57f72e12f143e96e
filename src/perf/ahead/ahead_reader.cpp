#include "perf/ahead/ahead_reader.h"

#include "os/guarded_thread.h"

namespace memtrace {

Result<std::optional<Record>> AheadReader::next() {
  while (true) {
    if (using_ != nullptr && used_ < using_->records.size()) {
      Result<std::optional<Record>> result{std::optional<Record>()};
      result.value().emplace(using_->records[used_++]);
      return result;
    }
    if (using_ != nullptr && using_->error) {
      return *using_->error;
    }
    if (has_left_ || (using_ != nullptr && using_->is_last)) {
      return std::optional<Record>();
    }
    using_ = batches_.take(number_, using_);
    used_ = 0;
    if (using_ == nullptr) {
      return Error{thread_failure(), 0, "the recording was not read to its end"};
    }
  }
}

void AheadReader::leave() {
  if (!has_left_) {
    has_left_ = true;
    batches_.leave(number_, using_);
    using_ = nullptr;
  }
}

}  // namespace memtrace
