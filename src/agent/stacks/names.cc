// SPDX-License-Identifier: Apache-2.0
#include "agent/stacks/names.h"

#include <algorithm>
#include <array>

#include "agent/stacks/name_buffer.h"
#include "agent/stacks/signature_text.h"
#include "base/file_name.h"
#include "base/guid.h"
#include "clr/element_types.h"
#include "clr/method_name.h"
#include "clr/type_name.h"
#include "profile/profile.h"

namespace clrscope::agent {
namespace {

constexpr uint32_t kMaxArguments = 64;
constexpr int kMaxNesting = 16;

// Whether a method's signature (ECMA-335 §II.23.2.1) returns bool.
bool ReturnsBool(Bytes signature) {
  if (signature.size() < 3) return false;
  const auto* p = reinterpret_cast<const uint8_t*>(signature.data());
  const uint8_t* end = p + signature.size();
  const auto compressed = [&] { p += *p < 0x80 ? 1 : *p < 0xC0 ? 2 : 4; };
  const bool generic = (*p++ & 0x10) != 0;
  if (generic && p < end) compressed();
  if (p < end) compressed();
  return p < end && *p == 0x02;
}

std::string FileStem(std::string_view path) {
  path = FileNameOf(path);
  if (path.ends_with(".dll") || path.ends_with(".exe")) path.remove_suffix(4);
  return std::string(path);
}

// Of one module's metadata.
class MetadataNames final : public SignatureNames {
 public:
  explicit MetadataNames(ModuleMetadata& metadata) : metadata_(metadata) {}
  std::string TypeName(uint32_t token) override {
    std::string name = metadata_.OwnName(token);
    return name.empty() ? "?" : name;
  }
  std::vector<std::byte> TypeSpec(uint32_t token) override { return metadata_.TypeSpec(token); }

 private:
  ModuleMetadata& metadata_;
};

// "(class System.String,int32)"; "" when it is not understood.
std::string Parameters(Bytes signature, ModuleMetadata& metadata) {
  MetadataNames names(metadata);
  const std::string text = SignatureText(signature, names);
  const size_t parens = text.find('(');
  return parens == std::string::npos ? std::string() : text.substr(parens);
}

profile::IntervalMethod Pseudo(std::string name, uint8_t flags) {
  profile::IntervalMethod m;
  m.method = m.raw = std::move(name);
  m.flags = flags;
  return m;
}

}  // namespace

Names::Names(Lookup& lookup) : lookup_(lookup), epoch_(lookup.epoch()) {
  methods_.push_back(Pseudo("[unknown]", profile::kUnresolved));
  methods_.push_back(Pseudo("[native]", profile::kPseudo));
  methods_.push_back(Pseudo("[truncated]", profile::kPseudo));
  methods_.push_back(Pseudo("[no stack]", profile::kPseudo));
  methods_.push_back(Pseudo("(other)", profile::kPseudo));
}

Names::Module& Names::ModuleOf(ModuleId id) {
  const auto [it, added] = modules_.try_emplace(id);
  Module& m = it->second;
  touched_collectible_ = touched_collectible_ || m.collectible;
  if (!added) return m;
  NameBuffer name;
  uint32_t length = 0;
  const uint8_t* base = nullptr;
  AssemblyId assembly = 0;
  uint32_t flags = 0;
  if (!Succeeded(lookup_.Ask<&ICorProfilerInfo::GetModuleInfo2>(id, &base, kNameUnits, &length,
                                                                name.data(), &assembly, &flags)))
    return m;
  m.name = FileStem(NameText(name, length));
  // A dynamic one is called what its assembly is, as in the runtime's events.
  uintptr_t domain = 0;
  ModuleId manifest = 0;
  if ((flags & kModuleDynamic) != 0 &&
      Succeeded(lookup_.Ask<&ICorProfilerInfo::GetAssemblyInfo>(assembly, kNameUnits, &length,
                                                                name.data(), &domain, &manifest)))
    m.name = NameText(name, length);
  m.collectible = MayGo(flags);
  if (m.collectible) collectible_modules_.push_back(id);
  touched_collectible_ = touched_collectible_ || m.collectible;
  m.metadata = ModuleMetadata(lookup_, id, base, flags);
  if (const auto scope = m.metadata.FindScope()) {
    m.mvid = GuidKey(scope->mvid);
    if (m.name.empty()) m.name = FileStem(scope->name);
  }
  return m;
}

std::string Names::RawTypeName(ClassId type, int depth) {
  if (type == 0 || depth > kMaxNesting) return {};
  uint32_t kind = 0, rank = 0;
  ClassId element = 0;
  // S_FALSE, which is a success, says that it is no array.
  if (lookup_.Ask<&ICorProfilerInfo::IsArrayClass>(type, &kind, &element, &rank) == kOk) {
    std::string out = element != 0 ? RawTypeName(element, depth + 1) : std::string();
    if (out.empty()) out = clr::ElementTypeName(kind);
    if (out.empty()) return {};
    out += '[';
    out.append(rank > 1 ? rank - 1 : 0, ',');
    out += ']';
    return out;
  }
  ModuleId module = 0;
  uint32_t token = 0, count = 0;
  ClassId parent = 0;
  std::array<ClassId, kMaxArguments> arguments{};
  if (!Succeeded(lookup_.Ask<&ICorProfilerInfo::GetClassIDInfo2>(
          type, &module, &token, &parent, kMaxArguments, &count, arguments.data())) ||
      module == 0)
    return {};
  std::string out = ModuleOf(module).metadata.TypeName(token);
  if (out.empty() || count == 0) return out;
  out += '[';
  for (uint32_t i = 0; i < std::min(count, kMaxArguments); ++i) {
    if (i != 0) out += ',';
    const std::string argument = RawTypeName(arguments[i], depth + 1);
    out += argument.empty() ? "?" : argument;
  }
  out += ']';
  return out;
}

void Names::DropCollectible() {
  for (const ModuleId id : collectible_modules_) modules_.erase(id);
  collectible_modules_.clear();
}

void Names::EnterEpoch() {
  const uint32_t now = lookup_.epoch();
  if (now == epoch_) return;
  if (!type_ids_.empty()) {
    earlier_type_ids_.swap(type_ids_);
    earlier_epoch_ = epoch_;
  }
  epoch_ = now;
  Forget();
}

uint32_t Names::AddTypeNamed(uint64_t id, std::string raw) {
  if (raw.empty()) {
    ++unnamed_types_;
    return 0;
  }
  const auto [known, added] = type_keys_.try_emplace(raw + '\n' + std::to_string(id),
                                                     static_cast<uint32_t>(types_.size()) + 1);
  if (added) {
    profile::IntervalType t;
    t.id = id;
    t.name = clr::CsharpTypeName(raw);
    t.raw = std::move(raw);
    types_.push_back(std::move(t));
  }
  return known->second;
}

uint32_t Names::TypeThrown(uint32_t id) {
  if (const auto it = thrown_ids_.find(id); it != thrown_ids_.end()) return it->second;
  if (types_.size() >= kMostTypes) return 0;
  bool cut = false;
  const Utf16View name = thrown_.Get(id, &cut);
  std::string raw = id == ThrownNames::kOther ? "(other)" : ToUtf8(name);
  if (cut) raw += "…";
  // Where whoever adds it is still writing, it is asked for again.
  const bool known = id == ThrownNames::kOther || name.data != nullptr;
  const uint32_t type = AddTypeNamed(0, std::move(raw));
  if (known) thrown_ids_[id] = type;
  return type;
}

uint32_t Names::TypeOf(ClassId type, uint32_t epoch, bool* gone) {
  *gone = false;
  if (type == 0) return 0;
  EnterEpoch();
  if (epoch == epoch_ || epoch == earlier_epoch_) {
    const auto& known = epoch == epoch_ ? type_ids_ : earlier_type_ids_;
    if (const auto it = known.find(type); it != known.end()) return it->second;
  }
  *gone = !lookup_.Begin(epoch);
  if (*gone || types_.size() >= kMostTypes) return 0;
  std::string raw = RawTypeName(type, 0);
  DropCollectible();
  *gone = lookup_.gone();
  if (*gone) return 0;
  return type_ids_[type] = AddTypeNamed(type, std::move(raw));
}

profile::IntervalMethod Names::Describe(FunctionId function) {
  profile::IntervalMethod m = methods_[kUnknownMethod];
  NameBuffer name;
  uint32_t length = 0;
  ModuleId module = 0;
  int32_t dynamic = 0;
  if (Succeeded(lookup_.Ask<&ICorProfilerInfo::IsFunctionDynamic>(function, &dynamic)) &&
      dynamic != 0) {
    const uint8_t* signature = nullptr;
    uint32_t size = 0;
    if (!Succeeded(lookup_.Ask<&ICorProfilerInfo::GetDynamicFunctionInfo>(
            function, &module, &signature, &size, kNameUnits, &length, name.data())))
      return m;
    m.flags = 0;
    Module& in = ModuleOf(module);
    const std::string method = NameText(name, length);
    m.module = in.name;
    m.method = "[dynamic] " + method;
    m.raw =
        "dynamicClass." + method + Parameters(lookup_.Copy(AsBytes(signature, size)), in.metadata);
    return m;
  }
  ClassId owner = 0;
  uint32_t token = 0, count = 0;
  std::array<ClassId, kMaxArguments> arguments{};
  if (!Succeeded(lookup_.Ask<&ICorProfilerInfo::GetFunctionInfo2>(
          function, 0u, &owner, &module, &token, kMaxArguments, &count, arguments.data())))
    return m;
  Module& in = ModuleOf(module);
  const auto method = in.metadata.FindMethod(token);
  if (!method) return m;
  std::string owner_name = RawTypeName(owner, 0);
  if (owner_name.empty()) owner_name = in.metadata.TypeName(method->owner);
  m.flags = 0;
  m.module = in.name;
  m.mvid = in.mvid;
  m.token = token;
  m.method = clr::CsharpMethodName(owner_name, method->name,
                                   ReturnsBool(method->signature) ? "instance bool ()" : "");
  m.raw = (owner_name.empty() ? method->name : owner_name + "." + method->name) +
          Parameters(method->signature, in.metadata);
  return m;
}

Names::Method Names::MethodOf(FunctionId function) {
  if (function == 0) return {};
  EnterEpoch();
  const auto it = method_ids_.find(function);
  if (it != method_ids_.end()) return it->second;
  if (methods_.size() >= kMostMethods) return {kOtherMethod, true};
  touched_collectible_ = false;
  profile::IntervalMethod m = Describe(function);
  DropCollectible();
  if (lookup_.gone()) return {};
  Method out;
  out.collectible = touched_collectible_;
  if ((m.flags & profile::kUnresolved) != 0) {
    ++unnamed_methods_;
  } else {
    const auto [known, added] = method_keys_.try_emplace(
        m.module + '\n' + m.mvid + '\n' + std::to_string(m.token) + '\n' + m.raw,
        static_cast<uint32_t>(methods_.size()));
    if (added) methods_.push_back(std::move(m));
    out.id = known->second;
  }
  method_ids_[function] = out;
  return out;
}

Names::Method Names::AsyncCaller(ClassId machine) {
  EnterEpoch();
  if (methods_.size() >= kMostMethods) return {kOtherMethod, true};
  touched_collectible_ = false;
  profile::IntervalMethod m;
  const std::string owner = RawTypeName(machine, 0);
  ModuleId module = 0;
  uint32_t token = 0, count = 0;
  ClassId parent = 0;
  if (!owner.empty() && Succeeded(lookup_.Ask<&ICorProfilerInfo::GetClassIDInfo2>(
                            machine, &module, &token, &parent, 0u, &count, nullptr))) {
    const Module& in = ModuleOf(module);
    m.module = in.name;
    m.mvid = in.mvid;
  }
  DropCollectible();
  if (lookup_.gone()) return {};
  Method out;
  out.collectible = touched_collectible_;
  if (owner.empty()) {
    ++unnamed_methods_;
    return out;
  }
  constexpr std::string_view kMark = "[async] ", kSuffix = " [async]";
  std::string name = clr::CsharpMethodName(owner, "MoveNext", "");
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  m.method = std::string(kMark) + name;
  m.raw = std::string(kMark) + owner + ".MoveNext()";
  const auto [known, added] = method_keys_.try_emplace(m.module + '\n' + m.mvid + "\n0\n" + m.raw,
                                                       static_cast<uint32_t>(methods_.size()));
  if (added) methods_.push_back(std::move(m));
  out.id = known->second;
  return out;
}

void Names::Forget() {
  modules_.clear();
  method_ids_.clear();
  type_ids_.clear();
}

Names::Numbers Names::Trim(const std::vector<bool>& keep_methods,
                           const std::vector<bool>& keep_types) {
  Numbers out;
  out.methods.assign(methods_.size(), kDropped);
  out.types.assign(types_.size() + 1, kDropped);
  out.types[0] = 0;
  uint32_t methods = 0, types = 0;
  for (uint32_t i = 0; i < methods_.size(); ++i) {
    if (i > kOtherMethod && !keep_methods[i]) continue;
    out.methods[i] = methods;
    if (methods != i) methods_[methods] = std::move(methods_[i]);
    ++methods;
  }
  methods_.resize(methods);
  for (uint32_t i = 0; i < types_.size(); ++i) {
    if (!keep_types[i + 1]) continue;
    out.types[i + 1] = types + 1;
    if (types != i) types_[types] = std::move(types_[i]);
    ++types;
  }
  types_.resize(types);
  methods_.shrink_to_fit();
  types_.shrink_to_fit();
  const auto renumber = [](auto& ids, const std::vector<uint32_t>& numbers, auto&& number_of) {
    for (auto it = ids.begin(); it != ids.end();) {
      uint32_t& id = number_of(it->second);
      id = numbers[id];
      it = id == kDropped ? ids.erase(it) : std::next(it);
    }
  };
  const auto itself = [](uint32_t& id) -> uint32_t& { return id; };
  renumber(method_ids_, out.methods, [](Method& m) -> uint32_t& { return m.id; });
  renumber(method_keys_, out.methods, itself);
  renumber(type_ids_, out.types, itself);
  renumber(earlier_type_ids_, out.types, itself);
  renumber(thrown_ids_, out.types, itself);
  renumber(type_keys_, out.types, itself);
  return out;
}

size_t Names::memory_bytes() const {
  constexpr size_t kMapEntry = 48;  // node and bucket
  size_t bytes =
      (modules_.size() + method_ids_.size() + type_ids_.size() + earlier_type_ids_.size()) *
          kMapEntry +
      modules_.size() * (sizeof(Module) + sizeof(symbols::Metadata));
  const auto add = [&](const std::string& s) { bytes += s.capacity(); };
  for (const profile::IntervalMethod& m : methods_) {
    bytes += sizeof m + kMapEntry + m.raw.size() + m.module.size() + m.mvid.size();  // and its key
    for (const std::string* s : {&m.module, &m.mvid, &m.method, &m.raw}) add(*s);
  }
  for (const profile::IntervalType& t : types_) {
    bytes += sizeof t + kMapEntry + t.raw.size();
    add(t.name);
    add(t.raw);
  }
  return bytes;
}

}  // namespace clrscope::agent
