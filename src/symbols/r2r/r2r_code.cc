// SPDX-License-Identifier: Apache-2.0
#include "symbols/r2r/r2r_code.h"

#include <algorithm>

#include "symbols/r2r/debug_bounds.h"

namespace clrscope::symbols {
namespace {

// Begin, end and unwind information; other machines have no end.
constexpr uint32_t kAmd64FunctionSize = 12, kOtherFunctionSize = 8;
// Handlers of one method. The largest methods have a few hundred.
constexpr uint32_t kMostHandlers = 4096;

}  // namespace

Result<R2rCode> R2rCode::Read(const PeImage& image) {
  ASSIGN_OR_RETURN(const R2rHeader header, ReadR2rHeader(image));
  if (header.Section(R2rSectionType::kRuntimeFunctions).size == 0)
    return Error{ErrorCode::kNotFound, header.is_component()
                                           ? "the assembly's code lies in a composite image"
                                           : "the image has no precompiled functions"};
  R2rCode out;
  out.major_ = header.major;
  ASSIGN_OR_RETURN(out.functions_, image.AtRva(header.Section(R2rSectionType::kRuntimeFunctions)));
  ASSIGN_OR_RETURN(out.debug_section_, image.AtRva(header.Section(R2rSectionType::kDebugInfo)));
  out.debug_info_ = NativeArray(out.debug_section_);
  ASSIGN_OR_RETURN(out.entry_points_, MethodEntryPoints::Read(image, header));
  out.function_size_ = image.machine() == PeImage::kAmd64 ? kAmd64FunctionSize : kOtherFunctionSize;
  out.function_count_ = static_cast<uint32_t>(out.functions_.size() / out.function_size_);
  return out;
}

R2rFunction R2rCode::Function(uint32_t index) const {
  if (index >= function_count_) return {};
  const auto field = [&](uint32_t function, uint32_t i) {
    return LoadAt<uint32_t>(functions_.data() + size_t{function} * function_size_ + 4 * i);
  };
  R2rFunction out{field(index, 0)};
  if (function_size_ == kAmd64FunctionSize)
    out.end = field(index, 1);
  else
    out.end = index + 1 < function_count_ ? field(index + 1, 0) : ~0u;
  return out;
}

std::optional<uint32_t> R2rCode::FunctionAt(uint32_t rva) const {
  uint32_t low = 0, high = function_count_;  // the first that begins after it
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (Function(middle).begin <= rva)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0 || rva >= Function(low - 1).end) return std::nullopt;
  return low - 1;
}

std::optional<uint32_t> R2rCode::MainFunctionAt(uint32_t rva) const {
  const auto function = FunctionAt(rva);
  if (!function) return std::nullopt;
  // Main functions alone have debug information.
  for (uint32_t back = 0; back <= std::min(*function, kMostHandlers); ++back)
    if (debug_info_.Find(*function - back)) return *function - back;
  return std::nullopt;
}

Result<IlMap> R2rCode::MapOf(uint32_t main_function) const {
  const auto offset = debug_info_.Find(main_function);
  if (!offset) return Error{ErrorCode::kNotFound, "the function has no debug information"};
  ASSIGN_OR_RETURN(auto entries, DecodeDebugBounds(debug_section_, *offset, major_));
  return IlMap(std::move(entries));
}

}  // namespace clrscope::symbols
