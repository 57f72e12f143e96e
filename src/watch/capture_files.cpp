#include "watch/capture_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "base/wall_time.h"
#include "os/system.h"
#include "os/trust.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

constexpr std::string_view kDefaultName = "memtrace-watch";
constexpr std::string_view kEnding = ".data";
constexpr std::size_t kStampBytes = 16;  // "-20261123-140359"

bool is_folder(const std::string& path) {
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string prefix_of(const std::string& output) {
  if (output.empty() || output.ends_with('/')) {
    return output + std::string(kDefaultName);
  }
  return is_folder(output) ? output + "/" + std::string(kDefaultName) : output;
}

// With the slash; "" for the working directory.
std::string folder_of(const std::string& prefix) {
  const std::size_t slash = prefix.rfind('/');
  return slash == std::string::npos ? "" : prefix.substr(0, slash + 1);
}

// "20261123-140359": local time.
std::string stamp_of(std::uint64_t wall_ns) {
  std::string stamp = local_date(wall_ns) + "-" + local_time(wall_ns).substr(0, 8);
  std::string plain;
  for (std::size_t i = 0; i < stamp.size(); ++i) {
    const bool is_mark = stamp[i] == ':' || (stamp[i] == '-' && i < 10);
    plain += is_mark ? "" : std::string(1, stamp[i]);
  }
  return plain;
}

// When it was written, if it is one.
std::optional<std::uint64_t> written_ns_of_own(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));

  struct stat status {};

  std::array<char, 8> start{};
  const bool is_own =
      fd.valid() && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      (status.st_uid == ::geteuid() || sudo_user() == std::uint64_t{status.st_uid}) &&
      ::pread(fd.get(), start.data(), start.size(), 0) == std::ssize(start) &&
      std::string_view(start.data(), start.size()) == "PERFILE2";
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  return is_own ? std::optional(static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kSecondNs +
                                static_cast<std::uint64_t>(status.st_mtim.tv_nsec))
                : std::nullopt;
}

Result<> synchronize(const std::string& path, int flags) {
  const UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) {
    return Error{"fsync(" + path + ")", errno, "look at the disk"};
  }
  return kDone;
}

}  // namespace

bool is_capture_suffix(std::string_view text) {
  constexpr std::string_view kForm = "-dddddddd-dddddd-";
  if (text.size() <= kForm.size() + kEnding.size() || !text.ends_with(kEnding)) {
    return false;
  }
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !is_digit : text[i] != kForm[i]) {
      return false;
    }
  }
  const std::string_view label =
      text.substr(kForm.size(), text.size() - kForm.size() - kEnding.size());
  return std::ranges::all_of(label, [](char letter) {
    return letter == '-' || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
  });
}

CaptureFiles::CaptureFiles(const std::string& output, std::uint64_t keep)
    : prefix_(prefix_of(output)), keep_(keep) {}

std::string CaptureFiles::next_name(std::uint64_t wall_ns, const std::string& label) const {
  const std::string start = prefix_ + "-" + stamp_of(wall_ns) + "-" + label;
  std::string name = start + std::string(kEnding);
  for (int number = 2; path_exists(name); ++number) {
    name = start + "-" + std::to_string(number) + std::string(kEnding);
  }
  return name;
}

Result<> CaptureFiles::publish(const std::string& name) {
  const std::string part = unfinished(name);
  TRY(synchronize(part, O_RDONLY));
  if (::rename(part.c_str(), name.c_str()) != 0) {
    return Error{"rename(" + part + ", " + name + ")", errno, "give another place with -o"};
  }
  const std::string folder = folder_of(name);
  return synchronize(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
}

std::vector<std::string> CaptureFiles::all() const {
  const std::string folder = folder_of(prefix_);
  const std::string start = prefix_.substr(folder.size());
  // Names alone do not tell the order of two files of one second.
  std::set<std::tuple<std::string, std::uint64_t, std::string>> found;
  const auto names = list_directory(folder.empty() ? "." : folder);
  for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
    if (!name.starts_with(start) || !is_capture_suffix(name.substr(start.size()))) {
      continue;
    }
    if (const auto written_ns = written_ns_of_own(folder + name)) {
      found.insert({name.substr(start.size(), kStampBytes), *written_ns, folder + name});
    }
  }
  std::vector<std::string> in_order;
  in_order.reserve(found.size());
  for (const auto& [stamp, written_ns, name] : found) {
    in_order.push_back(name);
  }
  return in_order;
}

std::vector<std::string> CaptureFiles::remove_old() const {
  std::vector<std::string> files = all();
  std::vector<std::string> removed;
  for (std::size_t i = 0; keep_ != 0 && i + keep_ < files.size(); ++i) {
    if (::unlink(files[i].c_str()) == 0) {
      removed.push_back(files[i]);
    }
  }
  return removed;
}

}  // namespace memtrace
