#include "views/kit/show_option.h"

#include "base/text.h"

namespace memtrace {

Result<std::vector<std::string>> read_columns(const ViewOptions& options,
                                              const std::vector<std::string>& known) {
  const std::string& text = options.own.at(std::string(kShowOption));
  std::vector<std::string> columns;
  for (const std::string_view name : split(text, ',')) {
    if (name == "all") {
      return known;
    }
    if (std::ranges::find(known, name) == known.end()) {
      return Error{.message = "--show " + std::string(name) + ": no such column",
                   .hint = "columns are all, " + join(known, ", "),
                   .kind = ErrorKind::Usage};
    }
    if (std::ranges::find(columns, name) == columns.end()) {
      columns.emplace_back(name);
    }
  }
  return columns;
}

}  // namespace memtrace
