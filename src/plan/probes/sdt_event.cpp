#include "plan/probes/sdt_event.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "symbolize/code/sdt_notes.h"

namespace memtrace {
namespace {

constexpr std::string_view kSdtStart = "sdt:";
constexpr std::size_t kNamesInHint = 8;

Error sdt_usage(std::string_view event, std::string_view what) {
  return {"event '" + std::string(event) + "': " + std::string(what),
          0,
          "static probes are written sdt:PATH:PROVIDER:NAME, as sdt:libc:libc:memory_arena_new",
          ErrorKind::Usage};
}

// Upstream 3.10 and RHEL 7.3 fetch registers only.
std::string only_registers(const std::string& args) {
  std::vector<std::string> kept;
  for (const std::string_view arg : split(args, ' ')) {
    const std::size_t equals = arg.find('=');
    if (equals != std::string_view::npos && arg.substr(equals + 1).starts_with('%')) {
      kept.emplace_back(arg);
    }
  }
  return join(kept, " ");
}

SdtPlace place_of(const SdtProbe& probe, const std::string& path) {
  SdtPlace place{.definition = {.event = probe.provider + "_" + probe.name,
                                .path = path,
                                .file_offset = probe.file_offset,
                                .ref_ctr_offset = probe.semaphore_file_offset,
                                .args = fetch_arguments(probe)}};
  place.register_args = only_registers(place.definition.args);
  for (const SdtArgument& argument : probe.arguments) {
    if (argument.fetch.empty()) {
      place.unfetched.push_back(argument.operand);
    }
  }
  return place;
}

Error no_such_probe(const SdtEvent& event, const std::set<std::string>& known) {
  const std::string where = event.path == "*" ? "any file of the target" : event.path;
  const std::string wanted = event.provider + ":" + event.name;
  if (known.empty()) {
    return {"no static probes in " + where,
            0,
            "it was built without <sys/sdt.h>; probe its functions with uprobe:PATH:FUNCTION",
            ErrorKind::Usage};
  }
  std::vector<std::string> names(known.begin(), known.end());
  const auto near = nearest(wanted, names);
  names.resize(std::min(names.size(), kNamesInHint));
  return {"no static probe '" + wanted + "' in " + where,
          0,
          near.empty() ? "there are " + join(names, ", ") +
                             (known.size() > names.size() ? " and others" : "")
                       : "did you mean " + join(near, " or ") + "?",
          ErrorKind::Usage};
}

Result<std::vector<TargetObject>> files_of(const SdtEvent& event,
                                           const std::vector<TargetObject>& objects) {
  if (event.path == "*") {
    return objects;
  }
  auto object = find_object(objects, event.path);
  if (!object.ok()) {
    return object.take_error();
  }
  return std::vector<TargetObject>{object.take()};
}

}  // namespace

bool is_sdt_event(std::string_view event) {
  return event.starts_with(kSdtStart);
}

Result<SdtEvent> parse_sdt_event(std::string_view event) {
  const std::string_view text = event.substr(kSdtStart.size());
  const std::size_t name_at = text.rfind(':');
  const std::size_t provider_at = name_at == std::string_view::npos || name_at == 0
                                      ? std::string_view::npos
                                      : text.rfind(':', name_at - 1);
  if (provider_at == std::string_view::npos) {
    return sdt_usage(event, "a file, a provider and a name are needed");
  }
  SdtEvent parsed{.path = std::string(text.substr(0, provider_at)),
                  .provider = std::string(text.substr(provider_at + 1, name_at - provider_at - 1)),
                  .name = std::string(text.substr(name_at + 1))};
  if (parsed.path.empty() || parsed.provider.empty() || parsed.name.empty()) {
    return sdt_usage(event, "a file, a provider and a name are needed");
  }
  return parsed;
}

Result<std::vector<SdtPlace>> find_sdt_places(const SdtEvent& event,
                                              const std::vector<TargetObject>& objects) {
  const auto files = files_of(event, objects);
  if (!files.ok()) {
    return files.error();
  }
  std::vector<SdtPlace> places;
  std::set<std::string> known;
  const auto look_at = [&](const SdtProbe& probe, const std::string& path) {
    known.insert(probe.provider + ":" + probe.name);
    if (glob_match(event.provider, probe.provider) && glob_match(event.name, probe.name)) {
      places.push_back(place_of(probe, path));
    }
  };
  for (const TargetObject& file : files.value()) {
    const auto probes = read_sdt_probes(file.path);
    if (!probes.ok() && event.path != "*") {
      return probes.error();
    }
    for (const SdtProbe& probe : probes.ok() ? probes.value() : std::vector<SdtProbe>()) {
      look_at(probe, file.path);
    }
  }
  if (places.empty()) {
    return no_such_probe(event, known);
  }
  return places;
}

}  // namespace memtrace
