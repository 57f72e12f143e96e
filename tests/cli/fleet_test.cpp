// The queries of memtrace-fleet(7), asked of DuckDB over the files of a thousand simulated hosts.
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/program.h"

namespace memtrace::test {
namespace {

using Json = nlohmann::json;

class FleetTest : public ProgramTest {
 protected:
  void SetUp() override {
    const std::string package = kPackages + std::string("/@duckdb/node-api");
    if (run("node --version && python3 --version && [ -d " + package + " ]").status != 0) {
      GTEST_SKIP() << "node, python3 or DuckDB's package @duckdb/node-api of npm is not installed";
    }
    const Outcome made = run(
        "mkdir hosts && cd hosts && $MEMTRACE report kmalloc --by comm -i $CROWD --format ndjson "
        "-o ../one && python3 " TEST_SOURCE_DIR
        "/cli/readers/hosts.py ../one kmalloc . 1000 && "
        "[ $(ls | wc -l) = 1000 ]");
    ASSERT_EQ(made.status, 0) << made.all();
    report_ = Json::parse(run("$MEMTRACE report kmalloc --format json -i $CROWD").out);
  }

  // The query with this number in the manual page, as it stands there.
  std::string query(std::size_t number) {
    const std::string page = run("cat " TEST_SOURCE_DIR "/../man/memtrace-fleet.7").out;
    const std::regex block("\\.Bd -literal\\n(SELECT[^]*?);\\n\\.Ed");
    auto found = std::sregex_iterator(page.begin(), page.end(), block);
    std::advance(found, static_cast<std::ptrdiff_t>(number));
    return found == std::sregex_iterator() ? "" : (*found)[1].str();
  }

  Json answer(const std::string& query) {
    write("query.sql", query);
    const Outcome outcome = run("cd hosts && node " TEST_SOURCE_DIR "/cli/readers/duckdb.js " +
                                std::string(kPackages) + " \"$(cat ../query.sql)\"");
    EXPECT_EQ(outcome.status, 0) << query << "\n" << outcome.all();
    return outcome.status == 0 ? Json::parse(outcome.out) : Json::array();
  }

  static std::uint64_t number(const Json& value) {  // large integers are text
    return value.is_string() ? std::stoull(value.get<std::string>()) : value.get<std::uint64_t>();
  }

  std::uint64_t bytes() const { return report_.at("totals").at("bytes_alloc"); }

  Json report_;
};

TEST_F(FleetTest, hosts_with_the_most_kernel_memory) {
  const Json rows = answer(query(0));
  ASSERT_EQ(rows.size(), 10U) << rows;
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(number(rows[i].at("bytes")), 10 * bytes()) << rows[i];
    EXPECT_TRUE(rows[i].at("host").get<std::string>().ends_with("00")) << rows[i];
  }
}

TEST_F(FleetTest, programs_over_all_hosts) {
  const Json rows = answer(query(1));
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].at("comm"), "crowd");
  EXPECT_EQ(number(rows[0].at("hosts")), 1000U);
  EXPECT_EQ(number(rows[0].at("bytes")), (990 + 10 * 10) * bytes());
}

TEST_F(FleetTest, hosts_whose_figures_are_too_small) {
  const Json rows = answer(query(2));
  ASSERT_EQ(rows.size(), 1U) << rows;
  EXPECT_EQ(rows[0].at("host"), "host-0007");
  EXPECT_EQ(number(rows[0].at("lost")), 1234U);
  EXPECT_EQ(rows[0].at("boot_id"), "boot-0007");
}

// The same rows as csv.
TEST_F(FleetTest, csv_has_the_columns_of_the_host_too) {
  run("$MEMTRACE report kmalloc --by comm -i $CROWD --format csv --host-columns -o hosts/a.csv; "
      "sed '2,$s/^example/second/' hosts/a.csv > hosts/b.csv");
  const Json rows = answer(
      "SELECT host, view, comm, bytes_alloc, start_time FROM read_csv('*.csv') ORDER BY host");
  ASSERT_EQ(rows.size(), 2U) << rows;
  EXPECT_EQ(rows[1].at("host"), "second");
  EXPECT_EQ(number(rows[0].at("bytes_alloc")), bytes());
  EXPECT_TRUE(rows[0].at("start_time").get<std::string>().starts_with("2026-11-21")) << rows;
}

}  // namespace
}  // namespace memtrace::test
