#include "perf/file_in/group_source.h"

namespace memtrace {

Result<std::optional<Record>> GroupSource::next() {
  while (true) {
    if (given_ < split_.size()) {
      return std::optional<Record>(split_[given_++]);
    }
    auto record = source_->next();
    const auto* sample =
        record.ok() && record.value() ? std::get_if<Sample>(&record.value()->payload) : nullptr;
    if (sample == nullptr || !counts_.tells(sample->event)) {
      return record;
    }
    split(*record.value(), *sample);  // into nothing when none was hit since
  }
}

// An event without samples of its own was hit at some time before: where, and with which fields, is
// not known. The leader's stack is what perf shows for it.
void GroupSource::split(const Record& record, const Sample& sample) {
  split_.clear();
  given_ = 0;
  for (const GroupCounts::Hits& hits : counts_.take(sample, record.bytes, parser_)) {
    Record& each = split_.emplace_back(record);
    auto& copy = std::get<Sample>(each.payload);
    copy.period = hits.count;
    if (hits.event != sample.event) {
      copy.event = hits.event;
      copy.raw = {};
      copy.address = copy.physical_address = 0;
      each.bytes = {};
    }
  }
}

std::unique_ptr<RecordSource> with_groups(std::unique_ptr<RecordSource> source,
                                          GroupCounts& counts,
                                          const RecordParser& parser) {
  return counts.any() ? std::make_unique<GroupSource>(std::move(source), counts, parser)
                      : std::move(source);
}

}  // namespace memtrace
