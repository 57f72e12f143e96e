// Records of a pipe that describe the recording: what a file has in its header and sections.
#pragma once

#include <cstddef>
#include <span>

#include "perf/file_in/recording_builder.h"

namespace memtrace {

// HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE and BUILD_ID; any other record is passed over.
void read_header_record(std::span<const std::byte> record, RecordingBuilder& builder);

}  // namespace memtrace
