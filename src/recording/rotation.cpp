#include "recording/rotation.h"

#include <fmt/core.h>

#include <map>
#include <optional>

#include "base/text.h"
#include "os/system.h"

namespace memtrace {

std::string rotated_name(const std::string& output, std::uint64_t number) {
  return output + fmt::format(".{:04}", number);
}

std::vector<std::string> rotated_files(const std::string& output) {
  const std::size_t slash = output.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : output.substr(0, slash + 1);
  const std::string start = output.substr(folder.size()) + ".";
  std::map<std::uint64_t, std::string> files;
  const auto names = list_directory(folder.empty() ? "." : folder);
  for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
    const auto number = name.starts_with(start) ? parse_number(name.substr(start.size()))
                                                : std::optional<std::uint64_t>();
    if (number && folder + name == rotated_name(output, *number)) {
      files[*number] = folder + name;
    }
  }
  std::vector<std::string> in_order;
  in_order.reserve(files.size());
  for (const auto& [number, name] : files) {
    in_order.push_back(name);
  }
  return in_order;
}

}  // namespace memtrace
