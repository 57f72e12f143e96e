#include "observe/files/mounts.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "os/procfs.h"

namespace memtrace {
namespace {

// "27 1 254:0 / /mnt\040point rw,relatime shared:1 - ext4 /dev/vda rw".
std::optional<Mount> parse_mount(std::string_view line) {
  constexpr std::size_t kLeastWords = 5;
  const auto words = proc_words(line);
  const auto separator = std::ranges::find(words, "-");
  if (words.size() < kLeastWords || separator == words.end() || separator + 1 == words.end()) {
    return std::nullopt;
  }
  const auto device = split(words[2], ':');
  const auto id = parse_number(words[0]);
  const auto major = parse_number(device.front());
  const auto minor = parse_number(device.back());
  if (device.size() != 2 || !id || !major || !minor) {
    return std::nullopt;
  }
  return Mount{.id = *id,
               .device_major = static_cast<std::uint32_t>(*major),
               .device_minor = static_cast<std::uint32_t>(*minor),
               .is_whole = words[3] == "/",
               .path = std::string(words[4]),
               .type = std::string(*(separator + 1)),
               .options = words.end() - separator > 3 ? std::string(*(separator + 3)) : ""};
}

}  // namespace

std::vector<Mount> parse_mounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    if (auto mount = parse_mount(line)) {
      mounts.push_back(std::move(*mount));
    }
  }
  return mounts;
}

std::vector<std::string> overlay_layers(const Mount& mount) {
  constexpr std::string_view kLower = "lowerdir=";
  constexpr std::string_view kUpper = "upperdir=";
  std::vector<std::string> layers;
  if (mount.type != "overlay") {
    return layers;
  }
  for (const std::string_view option : split(mount.options, ',')) {
    if (option.starts_with(kUpper)) {
      layers.emplace_back(option.substr(kUpper.size()));
    } else if (option.starts_with(kLower)) {
      for (const std::string_view layer : split(option.substr(kLower.size()), ':')) {
        layers.emplace_back(layer);
      }
    }
  }
  return layers;
}

std::optional<std::uint64_t> mount_of_descriptor(std::string_view fdinfo) {
  for (const std::string_view line : split(fdinfo, '\n')) {
    const auto words = proc_words(line);
    if (words.size() == 2 && words[0] == "mnt_id:") {
      return parse_number(words[1]);
    }
  }
  return std::nullopt;
}

}  // namespace memtrace
