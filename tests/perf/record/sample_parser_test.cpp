#include <gtest/gtest.h>

#include "perf/record/record_parser.h"
#include "support/perf_bytes.h"

namespace memtrace::test {
namespace {

TEST(SampleParser, physical_address_is_found_behind_all_that_may_come_before_it) {
  constexpr std::uint64_t kPhysicalAddress = 1U << 19U;  // newer than some headers
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
                     PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_INTR | kPhysicalAddress;
  attr.sample_regs_intr = 0x3;
  ByteWriter body;
  // Time, address, weight, source; ABI and two registers; the physical address.
  for (const std::uint64_t word : {77U, 0x1000U, 5U, 6U, 2U, 8U, 9U, 0x12345000U}) {
    body.put(std::uint64_t{word});
  }
  const auto bytes = record_bytes(PERF_RECORD_SAMPLE, body);
  RecordParser parser;
  parser.add_event(SampleLayout::of(attr), {});
  const auto record = parser.parse(bytes);
  ASSERT_TRUE(record.ok()) << describe(record.error());
  const auto& sample = std::get<Sample>(record.value().payload);
  EXPECT_TRUE(sample.has_physical_address);
  EXPECT_EQ(sample.physical_address, 0x12345000U);
  EXPECT_EQ(sample.address, 0x1000U);
}

}  // namespace
}  // namespace memtrace::test
