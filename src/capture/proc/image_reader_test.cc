// SPDX-License-Identifier: Apache-2.0
#include "capture/proc/image_reader.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace clrscope::capture {
namespace {

const profile::Image* ImageAt(const std::vector<profile::Image>& images, const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address);
  for (const profile::Image& image : images)
    if (at >= image.start && at < image.end) return &image;
  return nullptr;
}

TEST(ImageReader, KnowsTheFilesOfThisProcess) {
  StringPool strings;
  const auto images = ImageReader(::getpid()).Read(strings);
  ASSERT_TRUE(images);
  const profile::Image* self = ImageAt(*images, reinterpret_cast<const void*>(&ImageAt));
  ASSERT_NE(self, nullptr);
  EXPECT_TRUE(strings.Get(self->path).ends_with("capture_test")) << strings.Get(self->path);
  EXPECT_EQ(strings.Get(self->build_id).size(), 40u);
  const profile::Image* libc = ImageAt(*images, ::dlsym(RTLD_DEFAULT, "getpid"));
  ASSERT_NE(libc, nullptr);
  EXPECT_NE(libc->build_id, self->build_id);
}

TEST(ImageReader, MemoryWithoutAFileIsGeneratedCode) {
  void* code = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(code, MAP_FAILED);
  const int file = ::memfd_create("doublemapper", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  ASSERT_EQ(::ftruncate(file, 4096), 0);
  void* runtime = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  ASSERT_NE(runtime, MAP_FAILED);
  StringPool strings;
  const auto images = ImageReader(::getpid()).Read(strings);
  ASSERT_TRUE(images);
  for (const void* at : {code, runtime}) {
    const profile::Image* image = ImageAt(*images, at);
    ASSERT_NE(image, nullptr);
    EXPECT_TRUE(image->generated());
  }
  ::munmap(code, 4096);
  ::munmap(runtime, 4096);
  ::close(file);
}

TEST(ImageReader, ReadsATextOfBefore) {
  StringPool strings;
  const auto images = ImageReader(::getpid())
                          .Parse(
                              "1000-2000 r--p 00000000 00:00 0\n"
                              "2000-3000 r-xp 00001000 08:01 7 /no/such/library.so\n"
                              "5000-6000 rwxp 00000000 00:00 0",
                              strings);
  ASSERT_TRUE(images);
  ASSERT_EQ(images->size(), 2u);
  EXPECT_EQ((*images)[0].start, 0x2000u);
  EXPECT_EQ((*images)[0].offset, 0x1000u);
  EXPECT_EQ(strings.Get((*images)[0].path), "/no/such/library.so");
  EXPECT_TRUE((*images)[1].generated());
  EXPECT_FALSE(ImageReader(::getpid()).Parse("", strings));
}

TEST(ImageReader, OfAProcessThatEndedThereIsNothing) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  StringPool strings;
  EXPECT_FALSE(ImageReader(child).Read(strings)) << "it is a zombie";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(ImageReader(child).Read(strings));
}

}  // namespace
}  // namespace clrscope::capture
