#include "cli/output/push.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

#include "render/all/all_renderers.h"
#include "render/profile/stack_profile.h"

namespace memtrace {
namespace {

constexpr std::string_view kTokenVariable = "MEMTRACE_PUSH_TOKEN";

bool is_unreserved(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '-' ||
         character == '.' || character == '_' || character == '~';
}

// RFC 3986, 2.1.
std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char character : text) {
    encoded += is_unreserved(character)
                   ? std::string(1, character)
                   : fmt::format("%{:02X}", static_cast<unsigned char>(character));
  }
  return encoded;
}

// Labels stand in braces with commas between them.
std::string label_value(std::string_view text) {
  std::string value(text);
  std::ranges::replace_if(
      value, [](char character) { return !is_unreserved(character); }, '_');
  return value;
}

std::string_view host_of(std::string_view url) {
  const std::size_t begin = url.find("://") + 3;
  std::string_view host = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  if (const std::size_t user = host.rfind('@'); user != std::string_view::npos) {
    host.remove_prefix(user + 1);
  }
  return host.starts_with('[') ? host.substr(0, host.find(']') + 1)
                               : host.substr(0, host.find(':'));
}

bool is_this_machine(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

// What a server draws of each cost, as Pyroscope's documentation has it.
std::string sample_types(const Report& report) {
  nlohmann::ordered_json types = nlohmann::ordered_json::object();
  const auto profiles = stack_profiles(report);
  if (profiles.empty()) {
    return types.dump();
  }
  for (const WeightKind& kind : profiles.front().kinds) {
    types[kind.name] = {{"units", kind.unit == Unit::Bytes ? "bytes" : "objects"},
                        {"aggregation", "sum"},
                        {"display-name", kind.name},
                        {"sampled", false}};
  }
  return types.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

Result<PushTarget> read_push_target(std::string_view url, const char* token) {
  const bool is_secret = url.starts_with("https://");
  const auto is_odd = [](char character) {
    return static_cast<unsigned char>(character) <= ' ' || character == '\x7f';
  };
  if ((!is_secret && !url.starts_with("http://")) || host_of(url).empty() ||
      std::ranges::any_of(url, is_odd)) {
    return Error{"--push " + std::string(url),
                 0,
                 "takes the address of a server: https://profiles.example.org",
                 ErrorKind::Usage};
  }
  PushTarget target{.url = std::string(url), .token = token == nullptr ? "" : token};
  if (std::ranges::any_of(target.token, is_odd)) {
    return Error{std::string(kTokenVariable) + " holds a space or a control character",
                 0,
                 "it is one word",
                 ErrorKind::Usage};
  }
  if (!target.token.empty() && !is_secret && !is_this_machine(host_of(url))) {
    return Error{"--push with " + std::string(kTokenVariable) + " to an address of http",
                 0,
                 "everybody on the way could read the token: use https",
                 ErrorKind::Usage};
  }
  return target;
}

Result<std::string> push_url(const PushTarget& target, const Report& report) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (report.clock.wall_start_ns == 0) {
    return Error{"the recording does not say at which time of day it was made",
                 0,
                 "a server keeps profiles by time: record with memtrace record"};
  }
  const std::uint64_t end_ns = report.clock.wall_start_ns + (report.end_ns - report.start_ns);
  const std::string name =
      "memtrace." + report.view + "{host=" + label_value(report.origin.host) + "}";
  std::string url = target.url.substr(0, target.url.find('#'));
  const std::size_t path = url.find('/', url.find("://") + 3);
  if (path == std::string::npos || path + 1 == url.size()) {
    url.resize(std::min(url.size(), path));
    url += "/ingest";
  }
  // At least one second: a server takes none without a duration.
  return fmt::format("{}{}name={}&from={}&until={}&format=pprof&spyName=memtrace",
                     url,
                     url.find('?') == std::string::npos ? '?' : '&',
                     percent_encoded(name),
                     report.clock.wall_start_ns / kSecond,
                     std::max(end_ns / kSecond, report.clock.wall_start_ns / kSecond + 1));
}

std::string push_body(const Report& report, std::string_view boundary) {
  std::ostringstream body;
  const auto begin = [&body, boundary](std::string_view name, std::string_view file) {
    body << "--" << boundary << "\r\nContent-Disposition: form-data; name=\"" << name
         << "\"; filename=\"" << file << "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
  };
  begin("profile", "profile.pb.gz");
  make_renderer("pprof", {.version = MEMTRACE_VERSION})->render(report, body);
  body << "\r\n";
  begin("sample_type_config", "sample_types.json");
  body << sample_types(report) << "\r\n--" << boundary << "--\r\n";
  return std::move(body).str();
}

Result<> push_report(const PushTarget& target, const Report& report) {
  auto url = push_url(target, report);
  if (!url.ok()) {
    return url.take_error();
  }
  // Does not occur in what is compressed but by chance, nor in JSON.
  constexpr std::string_view kBoundary = "memtrace-6b1f0c5e9d7a4483a2e8f1b07c35d964";
  const std::string body = push_body(report, kBoundary);
  PostRequest request{.url = url.take(), .body = body};
  request.headers.push_back("Content-Type: multipart/form-data; boundary=" +
                            std::string(kBoundary));
  if (!target.token.empty()) {
    request.headers.push_back("Authorization: Bearer " + target.token);
  }
  return post_with_curl(request);
}

}  // namespace memtrace
