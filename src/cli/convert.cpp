// memtrace convert: a recording for programs that cannot read compressed records.
#include <array>

#include "base/log.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/options/shared_options.h"
#include "cli/output/print.h"
#include "perf/convert/plain_copy.h"

namespace memtrace::convert_command {
namespace {

constexpr auto kOwnOptions = std::to_array<Option>({
    {"input", 'i', "FILE", "the recording (default memtrace.data)"},
    {"output", 'o', "FILE", "the file to make"},
});

std::vector<Option> options() {
  return joined({kOwnOptions, help_option()});
}

Result<ExitStatus> run(const std::vector<std::string>& arguments) {
  const auto known = options();
  auto parsed = parse_options(known, arguments);
  if (!parsed.ok()) {
    return parsed.take_error();
  }
  if (parsed.value().has("help")) {
    TRY(print_text(usage_text("convert", command_convert.usage, command_convert.summary, known)));
    return 0;
  }
  if (!parsed.value().positional().empty()) {
    return Error{"'" + parsed.value().positional().front() + "'",
                 0,
                 "memtrace convert -i FILE -o FILE",
                 ErrorKind::Usage};
  }
  const std::string output = parsed.value().text("output");
  if (output.empty()) {
    return Error{"no output file is given",
                 0,
                 "say where to write: memtrace convert -i FILE -o FILE",
                 ErrorKind::Usage};
  }
  const auto copy = make_plain_copy(parsed.value().text("input", "memtrace.data"), output);
  if (!copy.ok()) {
    return copy.error();
  }
  inform(print_bytes(copy.value().plain_bytes) + " of records in " + output + " (" +
         print_bytes(copy.value().compressed_bytes) + " before)");
  return 0;
}

}  // namespace
}  // namespace memtrace::convert_command

namespace memtrace {

const Command command_convert{
    .name = "convert",
    .usage = "[-i FILE] -o FILE",
    .summary =
        "Copies a recording without compression, for old versions of perf and other programs.",
    .options = convert_command::options,
    .run = convert_command::run,
};

}  // namespace memtrace
