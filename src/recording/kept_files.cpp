#include "recording/kept_files.h"

#include <utility>

namespace memtrace {

void KeptFiles::add(std::optional<CreatedFile> file) {
  if (count_ != 0) {
    files_.push_back(std::move(file));
  }
}

void KeptFiles::make_room(std::uint64_t more) {
  while (count_ != 0 && !files_.empty() && files_.size() + more > count_) {
    removed_ += files_.front() && files_.front()->remove() ? 1U : 0U;
    files_.pop_front();
  }
}

}  // namespace memtrace
