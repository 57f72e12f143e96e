#include "perf/file_out/file_sections.h"

#include <algorithm>
#include <utility>

#include "base/byte_writer.h"

namespace memtrace {

// `out` lies at that offset in the file.
void FileSections::put_attrs(std::span<const WrittenEvent> events,
                             std::uint64_t offset,
                             ByteWriter& out) {
  std::vector<FileSection> ids;
  for (const WrittenEvent& event : events) {
    ids.push_back({offset + out.size_bytes(), event.ids.size() * sizeof(std::uint64_t)});
    out.put_bytes(std::as_bytes(std::span(event.ids)));
  }
  header_.attrs.offset = offset + out.size_bytes();
  for (std::size_t i = 0; i < events.size(); ++i) {
    out.put_bytes(events[i].attr);
    out.put(ids[i]);
    header_.attr_size_bytes = events[i].attr.size() + sizeof(FileSection);
  }
  header_.attrs.size_bytes = offset + out.size_bytes() - header_.attrs.offset;
}

FileSections::FileSections(const WriterSetup& setup) {
  const std::vector<FeatureBody> features = early_features(setup);
  ByteWriter out;
  out.put(header_);
  header_.size_bytes = sizeof(header_);
  put_attrs(setup.events, 0, out);
  early_attrs_ = header_.attrs;
  out.put(EarlyHeader{.count = static_cast<std::uint32_t>(features.size())});
  for (const FeatureBody& body : features) {
    out.put(EarlyEntry{.feature = body.feature, .size_bytes = body.bytes.size()});
    early_.push_back({body.feature, {out.size_bytes(), body.bytes.size()}});
    out.put_bytes(body.bytes);
    out.pad(sizeof(std::uint64_t));
  }
  header_.data.offset = out.size_bytes();
  head_ = std::move(out.bytes());
  std::memcpy(head_.data(), &header_, sizeof(header_));
}

std::vector<std::byte> FileSections::end_sections(const std::vector<FeatureBody>& late,
                                                  std::uint64_t data_end) {
  std::vector<Placed> placed = early_;
  std::erase_if(placed, [&late](const Placed& one) {
    return std::any_of(late.begin(), late.end(), [&one](const FeatureBody& body) {
      return body.feature == one.feature;
    });
  });
  const std::uint64_t offset = data_end + (placed.size() + late.size()) * sizeof(FileSection);
  ByteWriter bodies;
  for (const FeatureBody& body : late) {
    placed.push_back({body.feature, {offset + bodies.size_bytes(), body.bytes.size()}});
    bodies.put_bytes(body.bytes);
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return a.feature < b.feature;
  });
  std::fill(std::begin(header_.features), std::end(header_.features), 0);
  ByteWriter out;
  for (const Placed& one : placed) {
    out.put(one.section);
    header_.features[one.feature / 64] |= std::uint64_t{1} << (one.feature % 64);
  }
  out.put_bytes(bodies.bytes());
  if (!events_.empty()) {
    // The data may end anywhere, and attrs are read where they lie.
    out.put_bytes(std::vector<std::byte>(padded_to_8(data_end + out.size_bytes()) - data_end -
                                         out.size_bytes()));
    header_.event_types = early_attrs_;
    put_attrs(events_, data_end, out);
  }
  return std::move(out.bytes());
}

std::span<const std::byte> FileSections::finished_header(std::uint64_t data_end) {
  header_.data.size_bytes = data_end - header_.data.offset;
  return std::as_bytes(std::span(&header_, 1));
}

}  // namespace memtrace
