#include "os/trust.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <deque>
#include <string_view>

#include "base/text.h"
#include "os/system.h"

namespace memtrace {
namespace {

using Status = struct stat;

std::optional<std::uint64_t> number_for_root(const char* name) {
  const char* text = ::geteuid() == 0 ? std::getenv(name) : nullptr;
  return text == nullptr ? std::nullopt : parse_number(text);
}

// Many systems give each user a group with the same number and nobody else in it, and let it write
// what the user makes (umask 002). "alice:x:1000:" in /etc/group.
bool is_private_group(std::uint64_t group, std::uint64_t user) {
  const auto groups = group == user ? read_file("/etc/group") : Result<std::string>(std::string());
  const std::string text = groups.ok() ? groups.value() : "";
  for (const std::string_view line : split(text, '\n')) {
    const auto columns = split(line, ':');
    if (columns.size() == 4 && parse_number(columns[2]) == group) {
      return trim(columns[3]).empty();
    }
  }
  return false;
}

// An access control list may let other users and groups write; the group's bits are its mask then
// (acl(5)).
bool has_access_list(const std::string& path) {
  return ::lgetxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

// In a sticky folder only an entry's owner can put another one in its place.
bool others_may_write(const std::string& path, const Status& status) {
  if (S_ISLNK(status.st_mode) || (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0)) {
    return false;
  }
  const bool group_may = (status.st_mode & S_IWGRP) != 0;
  const bool group_is_foreign =
      group_may && status.st_gid != 0 && !is_private_group(status.st_gid, status.st_uid);
  return (status.st_mode & S_IWOTH) != 0 || group_is_foreign ||
         (group_may && has_access_list(path));
}

std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  return {target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

void put_first(std::string_view path, std::deque<std::string>& names) {
  std::deque<std::string> words;
  for (const std::string_view word : split(path, '/')) {
    words.emplace_back(word);
  }
  names.insert(names.begin(), words.begin(), words.end());
}

// Goes the way that open(2) goes: a link of ours may lead through a folder of somebody else's.
class TrustedWay {
 public:
  explicit TrustedWay(const std::string& path) { put_first(path, names_); }

  // The mode of what lies at its end; 0 when others have a say in it.
  mode_t mode() {
    while (!names_.empty()) {
      const std::string name = std::move(names_.front());
      names_.pop_front();
      if (!step(name)) {
        return 0;
      }
    }
    return mode_;
  }

 private:
  bool step(const std::string& name) {
    if (name.empty() || name == ".") {
      return true;
    }
    if (name == "..") {
      place_.resize(place_.empty() ? 0 : place_.rfind('/'));
      mode_ = S_IFDIR;
      return true;
    }
    const std::string next = place_ + "/" + name;
    Status status{};
    if (::lstat(next.c_str(), &status) != 0 || !is_trusted_user(status.st_uid) ||
        others_may_write(next, status)) {
      return false;
    }
    mode_ = status.st_mode;
    if (S_ISLNK(mode_)) {
      return follow(target_of(next));
    }
    place_ = next;
    return true;
  }

  bool follow(const std::string& target) {
    constexpr int kMaxLinks = 40;  // as the kernel (MAXSYMLINKS)
    place_ = target.starts_with('/') ? "" : place_;
    put_first(target, names_);
    return ++links_ <= kMaxLinks && !target.empty();
  }

  std::deque<std::string> names_;  // that are still to go
  std::string place_;
  mode_t mode_ = 0;
  int links_ = 0;
};

mode_t trusted_mode(const std::string& path) {
  return path.starts_with('/') ? TrustedWay(path).mode() : 0;
}

}  // namespace

std::optional<std::uint64_t> sudo_user() {
  return number_for_root("SUDO_UID");
}

std::optional<std::uint64_t> sudo_group() {
  return number_for_root("SUDO_GID");
}

bool is_trusted_user(std::uint64_t uid) {
  return uid == 0 || uid == ::geteuid() || sudo_user() == uid;
}

bool is_path_of_ours(const std::string& path) {
  return S_ISREG(trusted_mode(path));
}

bool is_folder_of_ours(const std::string& path) {
  return S_ISDIR(trusted_mode(path));
}

}  // namespace memtrace
