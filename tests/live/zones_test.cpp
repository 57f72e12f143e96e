// What compaction --trace says of zones, against /proc/zoneinfo of the same moment.
#include <cmath>

#include "live/pressure_live_test.h"

namespace memtrace::test {
namespace {

// The figures of one zone, in pages, as the kernel says.
using Marks = std::map<std::string, std::uint64_t>;

// By the zone's name, of node 0: "Node 0, zone   Normal", "  pages free     12", "        min 3".
std::map<std::string, Marks> zones_now() {
  std::map<std::string, Marks> zones;
  std::istringstream lines(text_of("/proc/zoneinfo"));
  Marks* zone = nullptr;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    std::string name;
    words >> first;
    if (first == "Node") {
      words >> first >> name >> name;
      zone = first == "0," ? &zones[name] : nullptr;
      continue;
    }
    name = first;
    if (first == "pages") {
      words >> name;
    }
    std::uint64_t pages = 0;
    if (zone != nullptr && words >> pages) {
      zone->emplace(name, pages);
    }
  }
  return zones;
}

class ZonesTest : public PressureTest {
 protected:
  // Other programs have some gigabytes of it in no time: within a share, and of small zones, which
  // are for special needs, exactly.
  static void expect_free(const Json& row, const Marks& zone) {
    constexpr double kPage = 4096;
    const auto told = row.at("free").get<double>() / kPage;
    const auto now = static_cast<double>(zone.at("free"));
    EXPECT_NEAR(told, now, row.at("zone") == "DMA" ? 0 : 0.2 * now) << row.dump();
  }
};

TEST_F(ZonesTest, marks_and_free_memory_are_those_of_the_zone) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  record("-a --for compaction -- sh -c 'echo 1 > /proc/sys/vm/compact_memory'");
  const auto zones = zones_now();
  const Json compaction = traced_report("compaction");
  const Json& rows = compaction.at("lines");
  std::size_t compared = 0;
  for (const Json& row : rows) {
    if (row.at("what") != "compaction") {
      continue;
    }
    const auto zone = zones.find(row.at("zone").get<std::string>());
    ASSERT_NE(zone, zones.end()) << row.dump();
    EXPECT_EQ(row.at("min"), zone->second.at("min") * page) << row.dump();
    EXPECT_EQ(row.at("low"), zone->second.at("low") * page) << row.dump();
    EXPECT_EQ(row.at("high"), zone->second.at("high") * page) << row.dump();
    EXPECT_TRUE(row.at("fragmentation").is_null()) << "by hand: for no block of any size";
    expect_free(row, zone->second);
    ++compared;
  }
  EXPECT_GE(compared, 2U) << compaction.dump(1);
}

}  // namespace
}  // namespace memtrace::test
