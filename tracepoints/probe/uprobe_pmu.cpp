#include "tracepoints/probe/uprobe_pmu.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "os/host_machine.h"
#include "os/system.h"
#include "os/unique_fd.h"

namespace memtrace {
namespace {

struct RegisterName {
  std::string_view name;
  unsigned perf_register = 0;
};

// arch/x86/include/uapi/asm/perf_regs.h and the names of regs_query_register_offset().
#if defined(__x86_64__)
constexpr std::array<RegisterName, 19> kRegisters = {{{"ax", 0},
                                                      {"bx", 1},
                                                      {"cx", 2},
                                                      {"dx", 3},
                                                      {"si", 4},
                                                      {"di", 5},
                                                      {"bp", 6},
                                                      {"sp", 7},
                                                      {"ip", 8},
                                                      {"flags", 9},
                                                      {"r8", 16},
                                                      {"r9", 17},
                                                      {"r10", 18},
                                                      {"r11", 19},
                                                      {"r12", 20},
                                                      {"r13", 21},
                                                      {"r14", 22},
                                                      {"r15", 23},
                                                      {"cs", 10}}};
constexpr std::string_view kReturnValue = "ax";
#elif defined(__aarch64__)
constexpr std::array<RegisterName, 10> kRegisters = {{{"x0", 0},
                                                      {"x1", 1},
                                                      {"x2", 2},
                                                      {"x3", 3},
                                                      {"x4", 4},
                                                      {"x5", 5},
                                                      {"x6", 6},
                                                      {"x7", 7},
                                                      {"sp", 31},
                                                      {"pc", 32}}};
constexpr std::string_view kReturnValue = "x0";
#endif

std::optional<unsigned> find_register(std::string_view operand) {
  std::string_view wanted = operand == "$retval" ? kReturnValue : operand;
  wanted.remove_prefix(wanted.starts_with('%') ? 1 : 0);
  const bool is_register = operand == "$retval" || operand.starts_with('%');
  const auto* found = std::find_if(kRegisters.begin(),
                                   kRegisters.end(),
                                   [&](const RegisterName& one) { return one.name == wanted; });
  return is_register && found != kRegisters.end() ? std::optional(found->perf_register)
                                                  : std::nullopt;
}

// "\\7", "\\-3", "\\0x10": an immediate of uprobe_events (5.4).
std::optional<std::uint64_t> find_constant(std::string_view operand) {
  if (!operand.starts_with('\\')) {
    return std::nullopt;
  }
  operand.remove_prefix(1);
  const bool is_negative = operand.starts_with('-');
  operand.remove_prefix(is_negative ? 1 : 0);
  const auto number = operand.starts_with("0x") ? parse_number(operand, 16) : parse_number(operand);
  return number && is_negative ? std::optional(0 - *number) : number;
}

// "name=%di:u64" or "%di:u64"; without a type it is as long as a register.
std::optional<RegisterArgument> parse_argument(std::string_view word, std::size_t number) {
  const std::size_t equals = word.find('=');
  if (equals == 0) {
    return std::nullopt;
  }
  const bool is_named = equals != std::string_view::npos;
  const std::string_view value = is_named ? word.substr(equals + 1) : word;
  const std::size_t colon = value.find(':');
  const auto found = find_register(value.substr(0, colon));
  const auto constant = find_constant(value.substr(0, colon));
  const std::string_view type = colon == std::string_view::npos ? "u64" : value.substr(colon + 1);
  const auto bits = type.size() > 1 ? parse_number(type.substr(1)) : std::nullopt;
  const bool is_known = bits && (*bits == 8 || *bits == 16 || *bits == 32 || *bits == 64) &&
                        std::string_view("usx").find(type[0]) != std::string_view::npos;
  if ((!found && !constant) || !is_known) {
    return std::nullopt;
  }
  return RegisterArgument{
      .name = is_named ? std::string(word.substr(0, equals)) : "arg" + std::to_string(number),
      .perf_register = found,
      .constant = constant.value_or(0),
      .size_bytes = static_cast<std::uint32_t>(*bits / 8),
      .is_signed = type[0] == 's'};
}

// "config:0\n", "config:32-63\n".
std::optional<ConfigField> config_field(const std::string& path) {
  constexpr std::string_view kStart = "config:";
  const auto text = read_file(path);
  if (!text.ok() || !text.value().starts_with(kStart)) {
    return std::nullopt;
  }
  const std::string_view bits = trim(std::string_view{text.value()}.substr(kStart.size()));
  const std::size_t dash = bits.find('-');
  const auto first = parse_number(bits.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_number(bits.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= 64) {
    return std::nullopt;
  }
  return ConfigField{.first_bit = static_cast<unsigned>(*first),
                     .bit_count = static_cast<unsigned>(*last - *first + 1)};
}

std::optional<std::uint64_t> value_of(const SampledRegisters& registers, unsigned perf_register) {
  const std::uint64_t bit = std::uint64_t{1} << perf_register;
  const auto index = static_cast<std::size_t>(std::popcount(registers.mask & (bit - 1)));
  const bool is_there = (registers.mask & bit) != 0 && index < registers.values.size();
  return is_there ? std::optional(registers.values[index]) : std::nullopt;
}

void append(std::vector<std::byte>& raw, std::uint64_t value, std::uint32_t size_bytes) {
  std::array<std::byte, sizeof(value)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(value));  // little-endian, as all that we run on
  raw.insert(raw.end(), bytes.begin(), bytes.begin() + size_bytes);
}

void add_field(std::string& text,
               const std::string& declaration,
               std::uint32_t& offset_bytes,
               const RegisterArgument& shape) {
  text += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n",
                      declaration,
                      offset_bytes,
                      shape.size_bytes,
                      shape.is_signed ? 1 : 0);
  offset_bytes += shape.size_bytes;
}

constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

constexpr std::uint32_t kCommonBytes = 8;
constexpr std::uint32_t kFlagBytes = 2;  // common_flags and common_preempt_count

}  // namespace

Result<std::vector<RegisterArgument>> parse_register_arguments(std::string_view args) {
  std::vector<RegisterArgument> parsed;
  for (const std::string_view word : split(args, ' ')) {
    if (word.empty()) {
      continue;
    }
    auto argument = parse_argument(word, parsed.size() + 1);
    if (!argument) {
      return Error{
          "the probe argument '" + std::string(word) + "' is neither a register nor a constant",
          0,
          "without tracefs only these can be read: mount it "
          "(mount -t tracefs nodev /sys/kernel/tracing)"};
    }
    parsed.push_back(*std::move(argument));
  }
  return parsed;
}

std::uint64_t register_mask(std::span<const RegisterArgument> arguments) {
  std::uint64_t mask = 0;
  for (const RegisterArgument& argument : arguments) {
    mask |= argument.perf_register ? std::uint64_t{1} << *argument.perf_register : 0;
  }
  return mask;
}

Result<UprobePmu> UprobePmu::open() {
  return open_in("/sys/bus/event_source/devices/uprobe");
}

// perf_uprobe_event_init() looks at the capabilities first, then at the name of the file. No file
// has an empty name, so who is allowed gets EINVAL, and no event is opened.
bool UprobePmu::is_allowed() const {
  constexpr const char* kNoFile = "";
  perf_event_attr attr = {};
  attr.type = type_;
  attr.size = PERF_ATTR_SIZE_VER1;  // with config2
  attr.config1 = reinterpret_cast<std::uintptr_t>(kNoFile);
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  const UniqueFd event(static_cast<int>(::syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL)));
  return !event.valid() && errno == EINVAL;
}

Result<UprobePmu> UprobePmu::open_in(const std::string& sysfs_directory) {
  const auto text = read_file(sysfs_directory + "/type");
  const auto type = text.ok() ? parse_number(trim(text.value())) : std::nullopt;
  const auto return_field = config_field(sysfs_directory + "/format/retprobe");
  if (!type || !return_field) {
    return Error{"open(" + sysfs_directory + "/type)",
                 text.ok() ? EINVAL : text.error().errno_value,
                 "this kernel has no uprobe events for perf: they came with Linux 4.17 and RHEL "
                 "7.7"};
  }
  UprobePmu pmu;
  pmu.type_ = static_cast<std::uint32_t>(*type);
  pmu.return_bit_ = return_field->first_bit;
  pmu.semaphore_ = config_field(sysfs_directory + "/format/ref_ctr_offset");
  return pmu;
}

// RHEL 8's PMU has no such field up to 8.10, though its uprobe_events know semaphores from 8.1.
Result<> UprobePmu::check_semaphore(const ProbeDefinition& definition) const {
  if (definition.ref_ctr_offset == 0) {
    return kDone;
  }
  if (!semaphore_) {
    return Error{"the probe " + definition.event + " has a semaphore",
                 0,
                 "without tracefs, probes with semaphores need Linux 4.20 or RHEL 9: mount it "
                 "(mount -t tracefs nodev /sys/kernel/tracing)"};
  }
  if (std::cmp_greater(std::bit_width(definition.ref_ctr_offset), semaphore_->bit_count)) {
    return Error{fmt::format("the semaphore of the probe {} lies at 0x{:x} of its file",
                             definition.event,
                             definition.ref_ctr_offset),
                 0,
                 "without tracefs it must lie in the first 4 GiB: mount it "
                 "(mount -t tracefs nodev /sys/kernel/tracing)"};
  }
  return kDone;
}

Result<UprobeAttr> UprobePmu::attr_for(const ProbeDefinition& definition) const {
  const auto args = parse_register_arguments(definition.args);
  if (!args.ok()) {
    return args.error();
  }
  TRY(check_semaphore(definition));
  UprobeAttr attr{.type = type_,
                  .config = definition.is_return ? std::uint64_t{1} << return_bit_ : 0,
                  .path = std::make_shared<const std::string>(definition.path),
                  .file_offset = definition.file_offset};
  if (semaphore_) {
    attr.config |= definition.ref_ctr_offset << semaphore_->first_bit;
  }
  attr.registers = register_mask(args.value());
  return attr;
}

std::string synthetic_format(const DefinedProbe& probe,
                             std::span<const RegisterArgument> args,
                             bool is_return) {
  const std::string event = probe.name.substr(probe.name.find(':') + 1);
  std::string text = fmt::format("name: {}\nID: {}\nformat:\n", event, probe.id);
  text += kCommonFields;
  std::uint32_t offset_bytes = kCommonBytes;
  const RegisterArgument place;
  std::string pattern = is_return ? "(%lx <- %lx)" : "(%lx)";
  std::string values = is_return ? "REC->__probe_func, REC->__probe_ret_ip" : "REC->__probe_ip";
  if (is_return) {
    add_field(text, "unsigned long __probe_func", offset_bytes, place);
    add_field(text, "unsigned long __probe_ret_ip", offset_bytes, place);
  } else {
    add_field(text, "unsigned long __probe_ip", offset_bytes, place);
  }
  for (const RegisterArgument& argument : args) {
    const char sign = argument.is_signed ? 's' : 'u';
    add_field(text,
              fmt::format("{}{} {}", sign, argument.size_bytes * 8, argument.name),
              offset_bytes,
              argument);
    const std::string_view length = argument.size_bytes == 8 ? "L" : "";
    pattern += " " + argument.name + "=%" + std::string(length) + (argument.is_signed ? "d" : "u");
    values += ", REC->" + argument.name;
  }
  return text + "\nprint fmt: \"" + pattern + "\", " + values + "\n";
}

std::vector<std::byte> synthesize_raw(const RawCommon& common,
                                      std::span<const std::uint64_t> places,
                                      std::span<const RegisterArgument> args,
                                      const SampledRegisters& registers) {
  std::vector<std::byte> raw;
  append(raw, common.id, sizeof(common.id) + kFlagBytes);
  append(raw, static_cast<std::uint32_t>(common.pid), sizeof(common.pid));
  for (const std::uint64_t ip : places) {
    append(raw, ip, sizeof(ip));
  }
  for (const RegisterArgument& argument : args) {
    const auto value = argument.perf_register ? value_of(registers, *argument.perf_register)
                                              : std::optional(argument.constant);
    if (!value) {
      return {};
    }
    append(raw, *value, argument.size_bytes);
  }
  return raw;
}

}  // namespace memtrace
