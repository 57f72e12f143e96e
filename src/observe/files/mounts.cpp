#include "observe/files/mounts.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "os/procfs.h"

namespace memtrace {
namespace {

// Blanks in names are "\040" (mangle() in fs/proc_namespace.c).
std::string unescaped(std::string_view text) {
  constexpr std::size_t kDigits = 3;
  const auto octal = [](char digit) { return digit >= '0' && digit <= '7'; };
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view digits = text.substr(at + 1, kDigits);
    if (text[at] != '\\' || digits.size() < kDigits || !std::ranges::all_of(digits, octal)) {
      plain += text[at];
      continue;
    }
    int value = 0;
    for (const char digit : digits) {
      value = value * 8 + (digit - '0');
    }
    plain += static_cast<char>(value);
    at += kDigits;
  }
  return plain;
}

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
               .path = unescaped(words[4]),
               .type = std::string(*(separator + 1)),
               .options = words.end() - separator > 3 ? unescaped(*(separator + 3)) : ""};
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
    const std::string_view name = option.starts_with(kUpper)   ? kUpper
                                  : option.starts_with(kLower) ? kLower
                                                               : std::string_view();
    if (!name.empty()) {
      const auto folders = split(option.substr(name.size()), ':');
      layers.insert(layers.end(), folders.begin(), folders.end());
    }
  }
  return layers;
}

std::optional<std::uint64_t> mount_of_descriptor(std::string_view fdinfo) {
  for (const std::string_view line : split(fdinfo, '\n')) {
    constexpr std::string_view kName = "mnt_id:";
    if (line.starts_with(kName)) {
      return parse_number(trim(line.substr(kName.size())));
    }
  }
  return std::nullopt;
}

}  // namespace memtrace
