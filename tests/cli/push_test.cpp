// report --push, received by a server that reads it as Pyroscope's documentation says.
#include <nlohmann/json.hpp>

#include "cli/program.h"

namespace memtrace::test {
namespace {

using Json = nlohmann::json;

class PushTest : public ProgramTest {
 protected:
  void SetUp() override {
    if (run("[ -x /usr/bin/curl ] && python3 --version").status != 0) {
      GTEST_SKIP() << "curl or python3 is not installed";
    }
  }

  // What the server says of the request, and what is sent.
  Outcome push(const std::string& before,
               const std::string& words,
               const std::string& options = "") {
    return run("mkdir -p got; rm -f got/*; " + before +
               " python3 " TEST_SOURCE_DIR "/cli/readers/receiver.py got " + options +
               " 2>server.log & server=$!; "
               "for i in $(seq 200); do [ -e got/port ] && break; sleep 0.05; done; "
               "PORT=$(cat got/port); export PORT; " +
               words + "; status=$?; kill $server 2>/dev/null; wait $server; exit $status");
  }

  Json request() { return Json::parse(run("cat got/request").out); }
};

TEST_F(PushTest, the_server_gets_a_profile_that_can_be_read) {
  const Outcome sent = push("",
                            "MEMTRACE_PUSH_TOKEN=s3cret $MEMTRACE report kmalloc -i $CROWD --push "
                            "http://127.0.0.1:$PORT");
  ASSERT_EQ(sent.status, 0) << sent.all();
  EXPECT_EQ(sent.out, "");
  const Json got = request();
  EXPECT_EQ(got.at("path"), "/ingest");
  const Json& query = got.at("query");
  EXPECT_EQ(query.at("format").at(0), "pprof");
  EXPECT_TRUE(query.at("name").at(0).get<std::string>().starts_with("memtrace.kmalloc{host="));
  const Json report = Json::parse(run("$MEMTRACE report kmalloc --format json -i $CROWD").out);
  const std::uint64_t from = std::stoull(query.at("from").at(0).get<std::string>());
  const std::uint64_t until = std::stoull(query.at("until").at(0).get<std::string>());
  EXPECT_GT(from, 1'700'000'000U);  // seconds since 1970
  EXPECT_GT(until, from);
  EXPECT_LT(until, from + 60);
  EXPECT_EQ(got.at("headers").at("Authorization"), "Bearer s3cret");
  EXPECT_TRUE(got.at("headers")
                  .at("Content-Type")
                  .get<std::string>()
                  .starts_with("multipart/form-data; boundary="));
  EXPECT_EQ(got.at("files").at("profile"), "profile.pb.gz");

  // The same file that --format pprof writes, and a description of each of its costs.
  run("$MEMTRACE report kmalloc --format pprof -o k.pb.gz -i $CROWD");
  EXPECT_EQ(run("cmp k.pb.gz got/profile && gzip -t < got/profile").status, 0);
  const Json types = Json::parse(run("cat got/sample_type_config").out);
  EXPECT_EQ(types.at("bytes_alloc").at("units"), "bytes");
  EXPECT_EQ(types.at("count").at("units"), "objects");
  EXPECT_EQ(types.at("count").at("sampled"), false);
}

TEST_F(PushTest, an_address_with_a_path_keeps_it) {
  const Outcome sent =
      push("", "$MEMTRACE report kmalloc -i $CROWD --push \"http://127.0.0.1:$PORT/a/ingest?x=1\"");
  ASSERT_EQ(sent.status, 0) << sent.all();
  EXPECT_EQ(request().at("path"), "/a/ingest");
  EXPECT_EQ(request().at("query").at("x").at(0), "1");
  EXPECT_FALSE(request().at("headers").contains("Authorization"));
}

TEST_F(PushTest, tls_trusts_whom_the_host_trusts) {
  if (run("openssl version").status != 0) {
    GTEST_SKIP() << "openssl is not installed";
  }
  const Outcome made =
      run("openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 "
          "-subj /CN=localhost -addext subjectAltName=DNS:localhost");
  ASSERT_EQ(made.status, 0) << made.all();
  const std::string report = "$MEMTRACE report kmalloc -i $CROWD --push https://localhost:$PORT";
  const Outcome known = push("", "CURL_CA_BUNDLE=$PWD/cert.pem " + report, "cert.pem key.pem");
  EXPECT_EQ(known.status, 0) << known.all();
  EXPECT_EQ(request().at("path"), "/ingest");
  const Outcome unknown = push("", report, "cert.pem key.pem");
  EXPECT_EQ(unknown.status, 1) << unknown.all();
  EXPECT_TRUE(unknown.says("certificate")) << unknown.all();
}

TEST_F(PushTest, what_the_server_refuses_is_an_error) {
  const Outcome refused =
      push("STATUS=401", "$MEMTRACE report kmalloc -i $CROWD --push http://127.0.0.1:$PORT");
  EXPECT_EQ(refused.status, 1) << refused.all();
  EXPECT_TRUE(refused.says("memtrace: sending the profile: ")) << refused.all();
  EXPECT_TRUE(refused.says("401")) << refused.all();
  const Outcome nobody = run("$MEMTRACE report kmalloc -i $CROWD --push http://127.0.0.1:1");
  EXPECT_EQ(nobody.status, 1) << nobody.all();
  EXPECT_TRUE(nobody.says("sending the profile: ")) << nobody.all();
}

// Others see the words of a command, but not what curl reads.
TEST_F(PushTest, the_token_is_on_no_command_line) {
  write("token", "s3cr3tw0rd");
  const Outcome sent = push("",
                            "MEMTRACE_PUSH_TOKEN=$(cat token) $MEMTRACE report kmalloc -i $CROWD "
                            "--push http://127.0.0.1:$PORT");
  EXPECT_EQ(request().at("headers").at("Authorization"), "Bearer s3cr3tw0rd") << sent.all();
  EXPECT_EQ(run("grep -q -- '/curl -q --config /dev/fd/' got/commands").status, 0);
  EXPECT_EQ(run("grep -q -f token got/commands").status, 1);
}

TEST_F(PushTest, what_cannot_be_sent_is_refused) {
  expect_refused("report kmalloc -i $CROWD --push server:4040",
                 2,
                 "--push server:4040",
                 "takes the address of a server: https://profiles.example.org");
  expect_refused("report -i $CROWD --push http://127.0.0.1:1",
                 2,
                 "--push URL without a view",
                 "it holds one view: memtrace report VIEW --push URL");
  expect_refused("report kmalloc --format json -i $CROWD --push http://127.0.0.1:1",
                 2,
                 "--push beside --format",
                 "it sends the report as pprof, and writes nothing");
  const Outcome open = run(
      "MEMTRACE_PUSH_TOKEN=s $MEMTRACE report kmalloc -i $CROWD --push http://collector.example");
  EXPECT_EQ(open.status, 2);
  EXPECT_TRUE(open.says("everybody on the way could read the token: use https")) << open.all();
  const Outcome odd =
      run("MEMTRACE_PUSH_TOKEN='a b' $MEMTRACE report kmalloc -i $CROWD --push https://h.example");
  EXPECT_EQ(odd.status, 2);
}

}  // namespace
}  // namespace memtrace::test
