// pprof: profile.proto, compressed with gzip. All costs of the view are sample types; what rows are
// grouped by beside the stack are labels. Names are final: pprof looks for none.
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/gzip.h"
#include "base/visible.h"
#include "render/caveats.h"
#include "render/moments.h"
#include "render/profile/profile_formats.h"
#include "render/profile/protobuf.h"
#include "render/profile/stack_profile.h"

namespace memtrace {
namespace {

// Numbers of fields in profile.proto.
enum class ProfileField : std::uint32_t {
  SampleType = 1,
  Sample = 2,
  Mapping = 3,
  Location = 4,
  Function = 5,
  StringTable = 6,
  TimeNanos = 9,
  DurationNanos = 10,
  Comment = 13,
  DefaultSampleType = 14
};

enum class MappingField : std::uint32_t {
  Id = 1,
  MemoryLimit = 3,
  Filename = 5,
  BuildId = 6,
  HasFunctions = 7,
  HasFilenames = 8,
  HasLineNumbers = 9,
  HasInlineFrames = 10
};

// pprof's names of units.
std::string_view pprof_unit(Unit unit) {
  switch (unit) {
    case Unit::Bytes:
      return "bytes";
    case Unit::Nanoseconds:
      return "nanoseconds";
    default:
      return "count";
  }
}

// Makes the tables of the file: each text, function, mapping and location once.
class PprofFile {
 public:
  explicit PprofFile(const Report& report) : report_(report) { text(""); }

  void add_type(const WeightKind& kind, bool is_main) {
    file_.add(ProfileField::SampleType, type_of(kind));
    if (is_main) {
      file_.add(ProfileField::DefaultSampleType, text(visible(kind.name)));
    }
  }

  void add(const WeightedStack& stack, bool has_stacks) {
    ProtobufMessage sample;
    sample.add(1, locations(stack, has_stacks));
    std::vector<std::uint64_t> values(stack.weights.begin(), stack.weights.end());
    sample.add(2, values);
    for (const ProfileLabel& label : stack.labels) {
      sample.add(3, label_of(label));
    }
    file_.add(ProfileField::Sample, sample);
  }

  void add_times() {
    file_.add(ProfileField::TimeNanos, report_.clock.wall_start_ns);
    file_.add(ProfileField::DurationNanos, report_.end_ns - report_.start_ns);
  }

  void add_comments(std::string_view version) {
    std::vector<std::string> comments = {"memtrace " + std::string(version),
                                         report_.view + ": " + report_.title};
    if (!report_.origin.host.empty()) {
      comments.push_back("host " + report_.origin.host + ", kernel " +
                         report_.origin.kernel_release);
    }
    for (const std::string& line : caveat_lines(report_.caveats)) {
      comments.push_back(line);
    }
    for (const std::string& comment : comments) {
      // Packed or not, a repeated number may be either (encoding of protocol buffers).
      file_.add(ProfileField::Comment, text(visible(comment)));
    }
  }

  std::string take() {
    for (const std::string& text : texts_) {
      file_.add(ProfileField::StringTable, std::string_view{text});
    }
    return gzip(file_.bytes());
  }

 private:
  std::uint64_t text(const std::string& text) {
    const auto [found, is_new] = text_ids_.try_emplace(text, texts_.size());
    if (is_new) {
      texts_.push_back(text);
    }
    return found->second;
  }

  ProtobufMessage type_of(const WeightKind& kind) {
    ProtobufMessage type;
    type.add(1, text(visible(kind.name)));
    type.add(2, text(std::string(pprof_unit(kind.unit))));
    return type;
  }

  ProtobufMessage label_of(const ProfileLabel& label) {
    ProtobufMessage message;
    message.add(1, text(visible(label.name)));
    if (const auto* number = std::get_if<std::uint64_t>(&label.value)) {
      message.add(3, *number);
    } else {
      message.add(2, text(std::get<std::string>(label.value)));
    }
    return message;
  }

  // Innermost first. Functions that were inlined are lines of the location that they are in.
  std::vector<std::uint64_t> locations(const WeightedStack& stack, bool has_stacks) {
    std::vector<std::uint64_t> ids;
    std::vector<const ProfileStep*> lines;
    for (std::size_t left = stack.steps.size(); left > 0; --left) {
      const ProfileStep& step = stack.steps[left - 1];
      if (step.is_label && has_stacks) {
        continue;
      }
      lines.push_back(&step);
      if (step.frame == nullptr || !step.frame->inlined) {
        ids.push_back(location(std::exchange(lines, {})));
      }
    }
    if (!lines.empty()) {
      ids.push_back(location(lines));
    }
    return ids;
  }

  std::uint64_t location(const std::vector<const ProfileStep*>& lines) {
    const Frame* frame = lines.back()->frame;
    const std::uint64_t mapping_id = frame == nullptr ? 0 : mapping(*frame);
    const std::uint64_t address = frame == nullptr ? 0 : frame->address;
    std::vector<std::uint64_t> key = {mapping_id, address};
    for (const ProfileStep* line : lines) {
      key.push_back(function(*line));
      key.push_back(line->frame == nullptr ? 0 : line->frame->line);
    }
    const auto [found, is_new] = location_ids_.try_emplace(key, location_ids_.size() + 1);
    if (is_new) {
      write_location(found->second, key);
    }
    return found->second;
  }

  // `key`: mapping, address, and a function and its line for each of the lines.
  void write_location(std::uint64_t id, const std::vector<std::uint64_t>& key) {
    ProtobufMessage location;
    location.add(1, id);
    location.add(2, key[0]);
    location.add(3, key[1]);
    for (std::size_t i = 2; i < key.size(); i += 2) {
      ProtobufMessage line;
      line.add(1, key[i]);
      line.add(2, key[i + 1]);
      location.add(4, line);
    }
    file_.add(ProfileField::Location, location);
  }

  std::uint64_t function(const ProfileStep& step) {
    const std::uint64_t name = text(step.name);
    const std::uint64_t file = step.frame == nullptr ? 0 : text(visible(step.frame->file));
    const auto [found, is_new] = function_ids_.try_emplace({name, file}, function_ids_.size() + 1);
    if (is_new) {
      ProtobufMessage function;
      function.add(1, found->second);
      function.add(2, name);
      function.add(3, name);
      function.add(4, file);
      file_.add(ProfileField::Function, function);
    }
    return found->second;
  }

  // Kernel modules lie in the kernel's mapping.
  std::uint64_t mapping(const Frame& frame) {
    const auto described = report_.modules.find(frame.file_id);
    CodeFile file =
        described == report_.modules.end() ? CodeFile{.path = frame.module} : described->second;
    if (file.path.empty() && file.build_id.empty()) {
      return 0;
    }
    const auto [found, is_new] =
        mapping_ids_.try_emplace({file.path, file.build_id}, mapping_ids_.size() + 1);
    if (is_new) {
      write_mapping(found->second, file);
    }
    return found->second;
  }

  // Addresses are those within the file: each mapping begins at 0.
  void write_mapping(std::uint64_t id, const CodeFile& file) {
    ProtobufMessage mapping;
    mapping.add(MappingField::Id, id);
    mapping.add(MappingField::MemoryLimit, std::numeric_limits<std::uint64_t>::max());
    mapping.add(MappingField::Filename, text(visible(file.path)));
    mapping.add(MappingField::BuildId, text(file.build_id));
    for (const auto field : {MappingField::HasFunctions,
                             MappingField::HasFilenames,
                             MappingField::HasLineNumbers,
                             MappingField::HasInlineFrames}) {
      mapping.add(field, std::uint64_t{1});
    }
    file_.add(ProfileField::Mapping, mapping);
  }

  const Report& report_;
  ProtobufMessage file_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint64_t> text_ids_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> function_ids_;  // name, file
  std::map<std::pair<std::string, std::string>, std::uint64_t> mapping_ids_;       // path, build id
  std::map<std::vector<std::uint64_t>, std::uint64_t> location_ids_;
};

class PprofRenderer final : public Renderer {
 public:
  explicit PprofRenderer(const RenderOptions& options) : version_(options.version) {}

  // An overview is its first report: one file holds stacks with one set of costs.
  void render(const Report& report, std::ostream& out) const override {
    const auto profiles = stack_profiles(report);
    PprofFile file(profiles.empty() ? report : *profiles.front().report);
    if (!profiles.empty()) {
      const StackProfile& profile = profiles.front();
      for (std::size_t i = 0; i < profile.kinds.size(); ++i) {
        file.add_type(profile.kinds[i], i == profile.main_kind);
      }
      for (const WeightedStack& stack : profile.stacks) {
        file.add(stack, profile.has_stacks);
      }
    }
    file.add_times();
    file.add_comments(version_);
    out << file.take();
  }

 private:
  std::string version_;
};

}  // namespace

std::unique_ptr<Renderer> make_pprof_renderer(const RenderOptions& options) {
  return std::make_unique<PprofRenderer>(options);
}

}  // namespace memtrace
