// SPDX-License-Identifier: Apache-2.0
// The headers of a PE file, as .NET assemblies are on every system, and what lies at an RVA.
// Source: ECMA-335 §II.25, Microsoft's PE format; the machine of images for one system:
// dotnet/runtime docs/design/coreclr/botr/readytorun-format.md
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"

namespace clrscope::symbols {

enum class PeLayout : uint8_t {
  kFile,    // as on disk
  kMapped,  // as a loader placed it: sections at their RVAs
};

// Of what a ReadyToRun image is for; images of IL alone are for every system.
enum class PeSystem : uint8_t { kAny, kLinux, kApple, kFreeBsd, kNetBsd, kSunOs };

struct DataDirectory {
  uint32_t rva = 0;
  uint32_t size = 0;  // bytes
};

struct PeSection {
  std::string_view name;  // at most 8 bytes
  uint32_t rva = 0;
  uint32_t virtual_size = 0;
  uint32_t file_offset = 0;
  uint32_t file_size = 0;
};

// Views into the bytes that it was read from.
class PeImage {
 public:
  enum Directory : size_t { kExport = 0, kException = 3, kDebug = 6, kCliHeader = 14 };
  static constexpr uint16_t kAmd64 = 0x8664, kArm64 = 0xaa64;

  // errors: kCorrupt, kTruncated with the offset
  static Result<PeImage> Parse(Bytes bytes, PeLayout layout);

  PeLayout layout() const { return layout_; }
  uint16_t machine() const { return machine_; }  // without the system that it is mixed with
  PeSystem system() const { return system_; }
  bool is_64_bit() const { return is_64_bit_; }
  uint32_t stamp() const { return stamp_; }
  uint32_t image_size() const { return image_size_; }
  const std::vector<PeSection>& sections() const { return sections_; }
  // Both zero where the file has none.
  DataDirectory directory(Directory which) const;

  // From `rva` to the end of what its section has; empty: nothing lies there.
  Bytes FromRva(uint32_t rva) const;
  // All of a range. errors: kTruncated
  Result<Bytes> AtRva(DataDirectory range) const;
  // By its place in the file, which debug data have beside their RVA; empty where the image is
  // mapped, or the range is not in the file.
  Bytes AtFileOffset(uint32_t offset, uint32_t size) const;

 private:
  Bytes bytes_;
  PeLayout layout_ = PeLayout::kFile;
  uint16_t machine_ = 0;
  PeSystem system_ = PeSystem::kAny;
  bool is_64_bit_ = false;
  uint32_t stamp_ = 0, image_size_ = 0, headers_size_ = 0;
  std::vector<DataDirectory> directories_;
  std::vector<PeSection> sections_;
};

}  // namespace clrscope::symbols
