#include "views/fault/fault_trace.h"

#include <string>

#include "views/fault/fault_keys.h"

namespace memtrace {
namespace {

std::string_view access_name(const Fault& fault) {
  return name_of(access_of(fault.entry));
}

std::string_view mode_name(const Fault& fault) {
  return is_of_kernel(fault.entry) ? "kernel" : "user";
}

Cell class_cell(const Fault& fault, const CellContext& context) {
  return cell_of(name_of(class_of(fault), context.fault_ends_seen && !context.sampled));
}

Cell file_cell(const Fault& fault, const CellContext& context) {
  return fault.place.file.valid() ? text_of(context.world, fault.place.file)
                                  : Cell("[" + std::string(name_of(fault.place.kind)) + "]");
}

Cell offset_cell(const Fault& fault, const CellContext& /*context*/) {
  return when(fault.place.file.valid(), fault.place.file_offset);
}

Cell latency_cell(const Fault& fault, const CellContext& /*context*/) {
  return when(fault.latency_ns);
}

Cell code_cell(const Fault& fault, const CellContext& /*context*/) {
  return unless_invalid(fault.code);
}

}  // namespace

Table fault_table(EventList<Fault>& faults, const CellContext& context, bool has_mode) {
  ListColumns<Fault> columns = {
      comm_column<Fault>(),
      figure<&Fault::pid>("pid", Unit::Number),
      figure<&Fault::tid>("tid", Unit::Number),
      figure<&Fault::entry, &PageFault::address>("address", Unit::Address),
      figure<access_name>("access", Unit::Text),
      {"class", Unit::Text, class_cell}};
  if (has_mode) {
    columns.push_back(figure<mode_name>("mode", Unit::Text));
  }
  const ListColumns<Fault> rest = {{"file", Unit::Text, file_cell},
                                   {"offset", Unit::Address, offset_cell},
                                   {"latency", Unit::Nanoseconds, latency_cell},
                                   {"code", Unit::Text, code_cell}};
  constexpr std::size_t kFigures = 2;
  columns.insert(columns.end(), rest.begin(), rest.end());
  return faults.table("one by one", 1 + columns.size() - kFigures, columns, context);
}

}  // namespace memtrace
