#include "sections/symbols_reader.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace memtrace {
namespace {

using Json = nlohmann::json;

// What the parser is in. Other: something of a later version, which is passed over.
enum class Level : std::uint8_t { Document, Modules, Module, Places, Place, Frames, Frame, Other };

constexpr std::size_t kPlaceValues = 2;
constexpr std::size_t kFrameValues = 6;

// The functions that nlohmann::json calls are named by it (json_sax); false ends the parsing.
class SymbolsHandler {
 public:
  explicit SymbolsHandler(const SymbolsSink& sink) : sink_(sink) {}

  const std::string& error() const { return error_; }

  bool null() { return pass(); }

  bool number_integer(std::int64_t /*value*/) { return pass(); }

  bool number_float(double /*value*/, const std::string& /*text*/) { return pass(); }

  bool binary(Json::binary_t& /*value*/) { return pass(); }

  bool boolean(bool value) {
    if (is_in(Level::Frame) && (frame_values_ == 4 || frame_values_ == 5)) {
      (frame_values_ == 4 ? frames_.back().kernel : frames_.back().inlined) = value;
      ++frame_values_;
      return true;
    }
    return pass();
  }

  bool number_unsigned(std::uint64_t value) {
    if (is_in(Level::Place) && place_values_ == 0) {
      lookup_offset_ = value;
      ++place_values_;
      return true;
    }
    if (is_in(Level::Frame) && frame_values_ == 3) {
      frames_.back().line = static_cast<std::uint32_t>(value);
      ++frame_values_;
      return true;
    }
    return pass();
  }

  bool string(std::string& value) {
    if (is_in(Level::Frame) && frame_values_ < 3) {
      Frame& frame = frames_.back();
      (frame_values_ == 0   ? frame.function
       : frame_values_ == 1 ? frame.module
                            : frame.file) = std::move(value);
      ++frame_values_;
      return true;
    }
    if (is_in(Level::Module) && (key_ == "module" || key_ == "file")) {
      (key_ == "module" ? module_.name : module_.file) = std::move(value);
      has_name_ = has_name_ || key_ == "module";
      return true;
    }
    return pass();
  }

  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }

  bool start_object(std::size_t /*count*/) {
    if (levels_.empty()) {
      levels_.push_back(Level::Document);
      return true;
    }
    if (is_in(Level::Modules)) {
      levels_.push_back(Level::Module);
      module_ = {};
      has_name_ = has_places_ = false;
      return true;
    }
    return pass() && enter(Level::Other);
  }

  bool end_object() {
    const bool is_whole = is_in(Level::Document) ? has_modules_
                          : is_in(Level::Module) ? has_name_ && has_places_
                                                 : true;
    if (!is_whole) {
      return wrong();
    }
    if (is_in(Level::Module)) {
      sink_.module(module_);
    }
    levels_.pop_back();
    return true;
  }

  bool start_array(std::size_t /*count*/) {
    if (is_in(Level::Document) && key_ == "modules") {
      has_modules_ = true;
      return enter(Level::Modules);
    }
    if (is_in(Level::Module) && key_ == "at") {
      has_places_ = true;
      return enter(Level::Places);
    }
    if (is_in(Level::Places)) {
      place_values_ = 0;
      frames_.clear();
      return enter(Level::Place);
    }
    if (is_in(Level::Place) && place_values_ == 1) {
      ++place_values_;
      return enter(Level::Frames);
    }
    if (is_in(Level::Frames)) {
      frame_values_ = 0;
      frames_.emplace_back();
      return enter(Level::Frame);
    }
    return !levels_.empty() ? pass() && enter(Level::Other) : wrong();
  }

  bool end_array() {
    if ((is_in(Level::Place) && place_values_ < kPlaceValues) ||
        (is_in(Level::Frame) && frame_values_ < kFrameValues)) {
      return wrong();
    }
    if (is_in(Level::Place)) {
      sink_.place(lookup_offset_, frames_);
    }
    levels_.pop_back();
    return true;
  }

  bool parse_error(std::size_t /*position*/,
                   const std::string& /*token*/,
                   const Json::exception& error) {
    error_ = error.what();
    return false;
  }

 private:
  bool is_in(Level level) const { return !levels_.empty() && levels_.back() == level; }

  bool enter(Level level) {
    levels_.push_back(level);
    return true;
  }

  // A value that this version does not know: of other keys, or behind those that it knows.
  bool pass() {
    const bool is_unknown =
        is_in(Level::Other) || (is_in(Level::Document) && key_ != "modules") ||
        (is_in(Level::Module) && key_ != "at" && key_ != "module" && key_ != "file") ||
        (is_in(Level::Place) && place_values_ >= kPlaceValues) ||
        (is_in(Level::Frame) && frame_values_ >= kFrameValues);
    return is_unknown || wrong();
  }

  bool wrong() {
    error_ = "they are not written as memtrace writes them";
    return false;
  }

  const SymbolsSink& sink_;
  std::vector<Level> levels_;
  std::string key_;
  ModuleKey module_;
  std::uint64_t lookup_offset_ = 0;
  Frames frames_;
  std::size_t place_values_ = 0;  // read so far
  std::size_t frame_values_ = 0;
  bool has_modules_ = false;
  bool has_places_ = false;
  bool has_name_ = false;
  std::string error_;
};

}  // namespace

Result<> read_symbols(const std::string& json, const SymbolsSink& sink) {
  SymbolsHandler handler(sink);
  if (!Json::sax_parse(json, &handler)) {
    return Error{"names stored in the file: " + handler.error(), 0, ""};
  }
  return kDone;
}

}  // namespace memtrace
