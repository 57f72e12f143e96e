#include "cli/output/curl.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

TEST(Curl, the_configuration_holds_the_whole_request) {
  const std::string config =
      curl_config({.url = "https://h.example/a\"b\\c", .headers = {"X: \"1\""}, .body = "b"});
  EXPECT_NE(config.find("url = \"https://h.example/a\\\"b\\\\c\"\n"), std::string::npos) << config;
  EXPECT_NE(config.find("header = \"X: \\\"1\\\"\"\n"), std::string::npos) << config;
  EXPECT_NE(config.find("data-binary = \"@-\"\n"), std::string::npos) << config;
  EXPECT_NE(config.find("\nfail\n"), std::string::npos) << config;
}

TEST(Curl, its_environment_is_proxies_and_certificates_alone) {
  EXPECT_EQ(curl_environment({"PATH=/x",
                              "https_proxy=http://p:1",
                              "MEMTRACE_PUSH_TOKEN=secret",
                              "CURL_CA_BUNDLE=/c",
                              "LD_PRELOAD=/l",
                              "CURL_HOME=/h"}),
            (std::vector<std::string>{"https_proxy=http://p:1", "CURL_CA_BUNDLE=/c"}));
}

}  // namespace
}  // namespace memtrace
