// The system's curl as a child: it knows TLS and which certificates this host trusts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

struct PostRequest {
  std::string url{};
  std::vector<std::string> headers{};  // "Content-Type: text/plain"
  std::string_view body{};
};

// What curl reads as its configuration: none of it stands on its command line, where others see it.
std::string curl_config(const PostRequest& request);

// Variables that curl is given: where its proxy and its certificates are (curl(1), "ENVIRONMENT").
std::vector<std::string> curl_environment(const std::vector<std::string>& environment);

// Waits for the answer. Error: curl cannot be run, or what it says of the request.
Result<> post_with_curl(const PostRequest& request);

}  // namespace memtrace
