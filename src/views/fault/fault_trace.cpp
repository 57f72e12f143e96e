#include "views/fault/fault_trace.h"

#include <string>

namespace memtrace {
namespace {

std::string_view access_name(const Fault& fault) {
  return name_of(access_of(fault.entry));
}

std::string_view mode_name(const Fault& fault) {
  return is_of_kernel(fault.entry) ? "kernel" : "user";
}

Cell shown_class(const Fault& fault, const FaultContext& context) {
  return cell_of(name_of(class_of(fault), context.failures_known()));
}

Cell shown_file(const Fault& fault, const FaultContext& context) {
  return fault.place.file.valid() ? text_of(context.world, fault.place.file)
                                  : Cell("[" + std::string(name_of(fault.place.kind)) + "]");
}

Cell shown_offset(const Fault& fault, const FaultContext& /*context*/) {
  return when(fault.place.file.valid(), fault.place.file_offset);
}

Cell shown_latency(const Fault& fault, const FaultContext& /*context*/) {
  return when(fault.latency_ns);
}

Cell shown_code(const Fault& fault, const FaultContext& /*context*/) {
  return unless_invalid(fault.code);
}

}  // namespace

Table fault_lines(EventList<Fault>& faults, const FaultContext& context, FaultColumns shown) {
  ListColumns<Fault, FaultContext> columns = {
      comm_column<Fault, FaultContext>(),
      figure<&Fault::pid>("pid", Unit::Number),
      figure<&Fault::tid>("tid", Unit::Number),
      figure<&Fault::entry, &PageFault::address>("address", Unit::Address),
      figure<access_name>("access", Unit::Text),
      {"class", Unit::Text, shown_class}};
  if (shown.mode) {
    columns.push_back(figure<mode_name>("mode", Unit::Text));
  }
  const ListColumns<Fault, FaultContext> rest = {{"latency", Unit::Nanoseconds, shown_latency},
                                                 {"offset", Unit::Address, shown_offset},
                                                 {"file", Unit::Text, shown_file},
                                                 {"code", Unit::Text, shown_code}};
  columns.insert(columns.end(), rest.begin(), rest.end());
  if (shown.stack) {
    columns.push_back(figure<&Fault::stack>("stack", Unit::Stack));
  }
  return faults.take(columns, context);
}

}  // namespace memtrace
