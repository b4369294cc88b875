// SPDX-License-Identifier: Apache-2.0
// Single-file programs, as the SDK's bundler writes them.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/bundle/bundle.h"

namespace clrscope::symbols {

class BundleBuilder {
 public:
  // `host`: what lies before the marker.
  explicit BundleBuilder(uint32_t major = 6, std::string host = std::string(777, 'h'))
      : major_(major), out_(std::move(host)), marker_(out_.size()) {
    out_.append(8, '\0');
    for (const unsigned char c : kMarker) out_ += static_cast<char>(c);
    out_.append(333, 'h');
  }

  BundleBuilder& Add(std::string_view path, std::string_view text,
                     BundledType type = BundledType::kAssembly) {
    entries_.push_back({std::string(path), type, out_.size(), text.size(), 0});
    out_ += text;
    return *this;
  }
  // Version 6 alone can say so.
  BundleBuilder& AddDeflated(std::string_view path, std::string_view text,
                             BundledType type = BundledType::kAssembly) {
    const std::string packed = Deflate(text);
    entries_.push_back({std::string(path), type, out_.size(), text.size(), packed.size()});
    out_ += packed;
    return *this;
  }

  // The executable, and where its manifest begins.
  std::vector<std::byte> Build() {
    header_ = out_.size();
    std::memcpy(out_.data() + marker_, &header_, sizeof(header_));
    Number(major_);
    Number(uint32_t{0});
    Number(static_cast<uint32_t>(entries_.size()));
    Name("F_oc4f3heP_Ghqb");
    if (major_ >= 2)
      for (int i = 0; i < 5; ++i) Number(uint64_t{0});
    for (const Entry& e : entries_) {
      Number(e.offset);
      Number(e.size);
      if (major_ >= 6) Number(e.compressed_size);
      out_ += static_cast<char>(e.type);
      Name(e.path);
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(out_.data());
    return {bytes, bytes + out_.size()};
  }
  uint64_t header() const { return header_; }

  static std::string Deflate(std::string_view text) {
    z_stream z{};
    (void)deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&z, text.size()), '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    (void)deflate(&z, Z_FINISH);
    out.resize(z.total_out);
    (void)deflateEnd(&z);
    return out;
  }

 private:
  struct Entry {
    std::string path;
    BundledType type;
    uint64_t offset, size, compressed_size;
  };
  static constexpr unsigned char kMarker[32] = {0x8b, 0x12, 0x02, 0xb9, 0x6a, 0x61, 0x20, 0x38,
                                                0x72, 0x7b, 0x93, 0x02, 0x14, 0xd7, 0xa0, 0x32,
                                                0x13, 0xf5, 0xb9, 0xe6, 0xef, 0xae, 0x33, 0x18,
                                                0xee, 0x3b, 0x2d, 0xce, 0x24, 0xb3, 0x6a, 0xae};

  template <class T>
  void Number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Name(std::string_view name) {
    if (name.size() >= 0x80) out_ += static_cast<char>(0x80 | (name.size() & 0x7f));
    out_ += static_cast<char>(name.size() >= 0x80 ? name.size() >> 7 : name.size());
    out_ += name;
  }

  uint32_t major_;
  std::string out_;
  size_t marker_;
  uint64_t header_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace clrscope::symbols
