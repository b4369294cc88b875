// SPDX-License-Identifier: Apache-2.0
#include "base/elf_build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/fd.h"

namespace clrscope {
namespace {

// Two notes, of which the second is the build id: 5 bytes, padded to 8.
std::vector<std::byte> Image() {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof(header);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof(header) + sizeof(segment);
  const Elf64_Nhdr abi{4, 4, NT_GNU_ABI_TAG}, id{4, 5, NT_GNU_BUILD_ID};
  std::vector<std::byte> notes;
  const auto add = [](std::vector<std::byte>& to, const void* data, size_t size) {
    const auto* bytes = static_cast<const std::byte*>(data);
    to.insert(to.end(), bytes, bytes + size);
  };
  add(notes, &abi, sizeof(abi));
  add(notes, "GNU\0\1\2\3\4", 8);
  add(notes, &id, sizeof(id));
  add(notes, "GNU\0\xde\xad\xbe\xef\x05\0\0\0", 12);
  segment.p_filesz = notes.size();
  std::vector<std::byte> image;
  add(image, &header, sizeof(header));
  add(image, &segment, sizeof(segment));
  add(image, notes.data(), notes.size());
  return image;
}

TEST(ElfBuildId, IsTheNotesDescriptionWithoutItsPadding) {
  EXPECT_EQ(ElfBuildId(Image()), "deadbeef05");
}

TEST(ElfBuildId, OfAFileIsThatOfItsBytes) {
  const Fd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(self.valid());
  std::ifstream in("/proc/self/exe", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const std::string id = ElfBuildId(AsBytes(bytes.data(), bytes.size()));
  EXPECT_EQ(id.size(), 40u);
  EXPECT_EQ(ElfBuildId(self.get()), id);
}

TEST(ElfBuildId, NothingIsReadOutsideOfADamagedFile) {
  const std::vector<std::byte> whole = Image();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(ElfBuildId(cut), "") << size;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> bad = whole;
    bad[at] = std::byte{0xff};
    (void)ElfBuildId(bad);
  }
}

}  // namespace
}  // namespace clrscope
