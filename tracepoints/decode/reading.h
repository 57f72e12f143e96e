// The frame that decoders of tracepoints have in common. Internal to tracepoints/.
#pragma once

#include <utility>

#include "tracepoints/decode/tracepoint.h"
#include "tracepoints/format/field_lookup.h"

namespace memtrace {

// A decoder that reads the fields that were looked up: `read` takes the sample's raw bytes and is
// only asked when they are long enough. Error: a required field is missing.
template <typename Read>
Result<Decoder> reading(const FieldLookup& lookup, Read read) {
  TRY(lookup.check());
  return Decoder([read = std::move(read),
                  needed_bytes = lookup.needed_bytes()](const RawSample& sample) -> RawPayload {
    return sample.raw.size() < needed_bytes ? RawPayload() : RawPayload(read(sample.raw));
  });
}

}  // namespace memtrace
