// SPDX-License-Identifier: Apache-2.0
// The files of a process's modules: from disk, as the process sees it, or out of the executable of
// a single-file program, whose modules have paths beside it at which nothing lies.
//
//   ASSIGN_OR_RETURN(const ModuleFiles files, ModuleFiles::Of(pid));
//   ASSIGN_OR_RETURN(const ModuleFile file, files.Find("/app/Shop.dll"));
//   ASSIGN_OR_RETURN(const std::vector<std::byte> assembly, file.Read());
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbol_files/file_parts.h"
#include "symbol_files/file_root.h"
#include "symbols/bundle/bundle.h"

namespace clrscope::symbol_files {

// Which bytes: a file, or a part of one.
struct ModuleFileId {
  FileId file;
  uint64_t offset = 0;
  auto operator<=>(const ModuleFileId&) const = default;
};

// One module's file, or another one beside it: a PDB. Whose it is, and of which build, nobody has
// looked at yet.
class ModuleFile {
 public:
  // The same for the same bytes, in whatever process: what is known of them need not be read again.
  const ModuleFileId& id() const { return id_; }
  bool bundled() const { return bundled_.offset != 0; }
  // Bytes, unpacked.
  uint64_t size() const { return bundled() ? bundled_.size : file_->size(); }
  // All of it, copied and unpacked. Any thread. errors: kIo; kRefused past FileRoot::kMostBytes;
  // kCorrupt, kTruncated, kFailed of what is compressed
  Result<std::vector<std::byte>> Read() const;
  // For who wants parts of it. errors: kRefused when it is compressed, or past
  // FileRoot::kMostBytes; kFailed
  Result<FileParts> Parts() const;

 private:
  Status CheckSize() const;
  friend class ModuleFiles;
  ModuleFile(std::shared_ptr<const OpenFile> file, const symbols::BundledFile& bundled)
      : file_(std::move(file)), bundled_(bundled), id_{file_->id(), bundled.offset} {
    bundled_.path = {};  // the manifest's
  }

  std::shared_ptr<const OpenFile> file_;
  symbols::BundledFile bundled_;  // offset 0: the file as a whole
  ModuleFileId id_;
};

// Of what it finds it keeps nothing but where the files of a bundle lie. Any thread.
class ModuleFiles {
 public:
  // What the process `pid` sees and runs. Call it while the process lives: afterwards it goes on.
  // It holds one descriptor, of a single-file program two. errors: kNotFound, kPermission
  static Result<ModuleFiles> Of(pid_t pid);
  // This machine's, of no process.
  static ModuleFiles Own() { return ModuleFiles(FileRoot::Own()); }

  // `path`: absolute, as ModuleLoad tells it. On disk first, as the runtime does.
  // errors: kNotFound, kPermission, kIo; kRefused for what is no regular file
  Result<ModuleFile> Find(std::string_view path) const;

 private:
  // A single-file program.
  struct Bundle {
    std::shared_ptr<const OpenFile> executable;
    std::string folder;  // of the executable, with '/' at its end
    std::vector<std::byte> bytes;
    symbols::BundleManifest manifest;  // views into `bytes`
  };
  explicit ModuleFiles(FileRoot root) : root_(std::move(root)) {}
  static std::shared_ptr<const Bundle> BundleOf(pid_t pid);

  FileRoot root_;
  std::shared_ptr<const Bundle> bundle_;  // null: there is none
};

}  // namespace clrscope::symbol_files
