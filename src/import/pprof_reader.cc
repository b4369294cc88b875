// SPDX-License-Identifier: Apache-2.0
#include "import/pprof_reader.h"

#include <algorithm>
#include <initializer_list>
#include <protozero/pbf_reader.hpp>
#include <unordered_map>

namespace clrscope::import {
namespace {

using protozero::pbf_reader;
using Tag = protozero::pbf_tag_type;

// protozero asks for fields of the right kind and checks that in debug builds only.
void Expect(const pbf_reader& r, protozero::pbf_wire_type type) {
  if (r.wire_type() != type) throw protozero::unknown_pbf_wire_type_exception{};
}
int64_t Int(pbf_reader& r) {
  Expect(r, protozero::pbf_wire_type::varint);
  return r.get_int64();
}
uint64_t Unsigned(pbf_reader& r) {
  Expect(r, protozero::pbf_wire_type::varint);
  return r.get_uint64();
}
pbf_reader Message(pbf_reader& r) {
  Expect(r, protozero::pbf_wire_type::length_delimited);
  return r.get_message();
}
std::string_view View(pbf_reader& r) {
  Expect(r, protozero::pbf_wire_type::length_delimited);
  const protozero::data_view v = r.get_view();
  return {v.data(), v.size()};
}

// One message; texts and references are looked up once everything is there, since tables may come
// in any order.
class Parser {
 public:
  explicit Parser(std::string_view message) : message_(message) {}

  Result<PprofProfile> Run() {
    try {
      pbf_reader reader(message_.data(), message_.size());
      while (reader.next()) {
        Field(reader);
        at_ = message_.size() - reader.length();
      }
      return Link();
    } catch (const protozero::exception&) {  // its only way to say that bytes are wrong
      return Damaged("a field is cut or of the wrong kind");
    }
  }

 private:
  struct Mapping {
    int64_t file = 0, build_id = 0;
  };
  struct RawLocation {
    uint64_t mapping = 0;
    uint64_t address = 0;
    std::vector<uint64_t> functions;
  };
  struct RawLabel {
    int64_t key = 0, text = 0, number = 0, unit = 0;
  };
  struct RawSample {
    size_t at = 0;
    std::vector<uint64_t> locations;
    std::vector<int64_t> values;
    std::vector<RawLabel> labels;
  };

  Error Damaged(std::string_view what) const {
    return Error::At(ErrorCode::kCorrupt, at_,
                     "the pprof profile is damaged: " + std::string(what));
  }

  void Field(pbf_reader& r) {
    switch (r.tag()) {
      case 1:
        AddType(Message(r));
        break;
      case 2:
        samples_.push_back(Sample(Message(r)));
        break;
      case 3:
        AddMapping(Message(r));
        break;
      case 4:
        AddLocation(Message(r));
        break;
      case 5:
        AddFunction(Message(r));
        break;
      case 6:
        strings_.push_back(View(r));
        break;
      case 9:
        out_.time_ns = Int(r);
        break;
      case 10:
        out_.duration_ns = Int(r);
        break;
      case 13:
        Each<int64_t>(r, [&](int64_t v) { comments_.push_back(v); });
        break;
      case 14:
        default_type_ = Int(r);
        break;
      default:
        r.skip();
    }
  }

  // A repeated number, packed or not.
  template <class T, class F>
  static void Each(pbf_reader& r, F&& f) {
    if (r.wire_type() == protozero::pbf_wire_type::varint) {
      f(static_cast<T>(Int(r)));
      return;
    }
    Expect(r, protozero::pbf_wire_type::length_delimited);
    for (const int64_t v : r.get_packed_int64()) f(static_cast<T>(v));
  }

  // A message of single numbers: sets those that are named.
  struct Number {
    Tag tag;
    int64_t* value;
  };
  static void Numbers(pbf_reader m, std::initializer_list<Number> wanted) {
    while (m.next()) {
      const auto it = std::find_if(wanted.begin(), wanted.end(),
                                   [&](const Number& n) { return n.tag == m.tag(); });
      if (it != wanted.end()) {
        *it->value = Int(m);
      } else {
        m.skip();
      }
    }
  }

  void AddType(pbf_reader m) {
    auto& [type, unit] = types_.emplace_back();
    Numbers(m, {{1, &type}, {2, &unit}});
  }

  RawSample Sample(pbf_reader m) const {
    RawSample s;
    s.at = at_;
    while (m.next()) {
      switch (m.tag()) {
        case 1:
          Each<uint64_t>(m, [&](uint64_t v) { s.locations.push_back(v); });
          break;
        case 2:
          Each<int64_t>(m, [&](int64_t v) { s.values.push_back(v); });
          break;
        case 3:
          s.labels.push_back(Label(Message(m)));
          break;
        default:
          m.skip();
      }
    }
    return s;
  }

  static RawLabel Label(pbf_reader m) {
    RawLabel l;
    Numbers(m, {{1, &l.key}, {2, &l.text}, {3, &l.number}, {4, &l.unit}});
    return l;
  }

  void AddMapping(pbf_reader m) {
    int64_t id = 0;
    Mapping mapping;
    Numbers(m, {{1, &id}, {5, &mapping.file}, {6, &mapping.build_id}});
    if (mappings_.empty()) main_mapping_ = static_cast<uint64_t>(id);
    mappings_[static_cast<uint64_t>(id)] = mapping;
  }

  void AddLocation(pbf_reader m) {
    uint64_t id = 0;
    RawLocation location;
    while (m.next()) {
      switch (m.tag()) {
        case 1:
          id = Unsigned(m);
          break;
        case 2:
          location.mapping = Unsigned(m);
          break;
        case 3:
          location.address = Unsigned(m);
          break;
        case 4: {
          pbf_reader line = Message(m);
          while (line.next()) {
            if (line.tag() == 1) {
              location.functions.push_back(Unsigned(line));
            } else {
              line.skip();
            }
          }
          break;
        }
        default:
          m.skip();
      }
    }
    location_at_.try_emplace(id, static_cast<uint32_t>(locations_.size()));
    locations_.push_back(std::move(location));
  }

  void AddFunction(pbf_reader m) {
    int64_t id = 0;
    std::pair<int64_t, int64_t> names{0, 0};
    Numbers(m, {{1, &id}, {2, &names.first}, {3, &names.second}});
    function_at_.try_emplace(static_cast<uint64_t>(id), static_cast<uint32_t>(functions_.size()));
    functions_.push_back(names);
  }

  bool Text(int64_t index, std::string_view& out) const {
    if (index == 0) return true;
    if (index < 0 || static_cast<uint64_t>(index) >= strings_.size()) return false;
    out = strings_[static_cast<size_t>(index)];
    return true;
  }

  Result<PprofProfile> Link() {
    bool ok = Text(default_type_, out_.default_type);
    for (const auto& [type, unit] : types_) {
      PprofValueType& t = out_.sample_types.emplace_back();
      ok = ok && Text(type, t.type) && Text(unit, t.unit);
    }
    for (const int64_t comment : comments_) ok = ok && Text(comment, out_.comments.emplace_back());
    for (const auto& [name, system_name] : functions_) {
      PprofFunction& f = out_.functions.emplace_back();
      ok = ok && Text(name, f.name) && Text(system_name, f.system_name);
    }
    if (const auto m = mappings_.find(main_mapping_); m != mappings_.end())
      ok = ok && Text(m->second.file, out_.main_module);
    if (!ok) return Damaged("a text is missing");
    for (const RawLocation& raw : locations_) {
      PprofLocation& l = out_.locations.emplace_back();
      l.address = raw.address;
      if (const auto m = mappings_.find(raw.mapping); m != mappings_.end()) {
        if (!Text(m->second.file, l.module) || !Text(m->second.build_id, l.build_id))
          return Damaged("a text is missing");
      } else if (raw.mapping != 0) {
        return Damaged("a mapping is missing");
      }
      for (const uint64_t id : raw.functions) {
        const auto f = function_at_.find(id);
        if (f == function_at_.end()) return Damaged("a function is missing");
        l.functions.push_back(f->second);
      }
    }
    for (RawSample& raw : samples_) {
      at_ = raw.at;
      if (raw.values.size() != types_.size())
        return Damaged("a sample has other values than types");
      PprofSample& s = out_.samples.emplace_back();
      s.values = std::move(raw.values);
      for (const uint64_t id : raw.locations) {
        const auto l = location_at_.find(id);
        if (l == location_at_.end()) return Damaged("a location is missing");
        s.locations.push_back(l->second);
      }
      for (const RawLabel& label : raw.labels) {
        PprofLabel& l = s.labels.emplace_back();
        l.number = label.number;
        if (!Text(label.key, l.key) || !Text(label.text, l.text) || !Text(label.unit, l.unit))
          return Damaged("a text is missing");
      }
    }
    return std::move(out_);
  }

  std::string_view message_;
  size_t at_ = 0;  // of the field that is read
  PprofProfile out_;
  std::vector<std::string_view> strings_;
  std::vector<std::pair<int64_t, int64_t>> types_, functions_;
  std::vector<int64_t> comments_;
  int64_t default_type_ = 0;
  std::unordered_map<uint64_t, Mapping> mappings_;
  uint64_t main_mapping_ = 0;
  std::vector<RawLocation> locations_;
  std::vector<RawSample> samples_;
  std::unordered_map<uint64_t, uint32_t> location_at_, function_at_;
};

}  // namespace

Result<PprofProfile> ParsePprof(std::string_view message) { return Parser(message).Run(); }

}  // namespace clrscope::import
