// The feature sections that memtrace writes, each as bytes: bodies of a file's sections and of a
// pipe's HEADER_FEATURE records alike. Layouts: tools/perf/util/header.c, write_*().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "perf/file_out/file_writer.h"

namespace memtrace {

struct FeatureBody {
  std::uint32_t feature = 0;
  std::vector<std::byte> bytes;
};

// What is known before the first record, by ascending number. Features that nothing is known about
// are left out.
std::vector<FeatureBody> early_features(const WriterSetup& setup);

// The early features that describe events: they change when events are added.
std::vector<FeatureBody> event_features(const WriterSetup& setup);

// An EVENT_UPDATE record of kind kAddedEvent; empty when it would be too large.
std::vector<std::byte> added_event_record(const WrittenEvent& event, std::uint64_t first_id);

// How records are compressed: with ratio 0 among the early features, as it is known at the end.
FeatureBody compression_feature(int level, std::uint32_t ratio);

// The features that are known only at the end.
std::vector<FeatureBody> end_features(const Recording& end);

}  // namespace memtrace
