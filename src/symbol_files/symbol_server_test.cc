// SPDX-License-Identifier: Apache-2.0
// Against a server on this machine that answers as the protocol says.
#include "symbol_files/symbol_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "fetch/testing/web_server.h"
#include "symbol_files/native_symbols.h"
#include "symbols/pdb/portable_pdb.h"
#include "symbols/testing/compiled_library.h"
#include "symbols/testing/sample.h"

namespace clrscope::symbol_files {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class SymbolServerTest : public testing::Test {
 protected:
  SymbolServerTest() {
    around_.Set("XDG_CACHE_HOME", around_.Path("cache"));
    const auto pdb = symbols::ReadSample("Sample.pdb");
    const auto parsed = symbols::PortablePdb::Parse(pdb);
    id_ = parsed->id();
    std::string guid = GuidText(id_.guid);
    std::erase(guid, '-');
    pdb_path_ = "/store/sample.pdb/" + guid + "FFFFFFFF/sample.pdb";
    files_[pdb_path_] = TextOf(pdb);
  }

  std::unique_ptr<SymbolServer> Open(const std::string& url) {
    auto server = SymbolServer::Open(url);
    EXPECT_TRUE(server.ok()) << server.error().message;
    return server.Take();
  }
  // Each file by its path; what is asked is counted.
  fetch::WebServer::Answer AnswerTo(const std::string& target) const {
    const auto found = files_.find(target);
    if (found == files_.end()) return {.status = 404};
    return {.status = 200, .body = found->second};
  }
  size_t FilesInCache() const {
    size_t n = 0;
    if (!fs::exists(around_.Path("cache"))) return 0;
    for (const auto& entry : fs::recursive_directory_iterator(around_.Path("cache")))
      if (entry.is_regular_file() && entry.path().extension() != ".missing") ++n;
    return n;
  }

  fetch::Surroundings around_;
  std::map<std::string, std::string> files_;
  symbols::PdbId id_;
  std::string pdb_path_;
  fetch::WebServer web_{[this](const std::string& target) { return AnswerTo(target); }};
};

TEST_F(SymbolServerTest, APdbComesOnceAndIsKept) {
  for (int i = 0; i < 2; ++i) {
    const auto server = Open(web_.Url("/store/"));
    const auto pdb = server->FindPdb("/_/obj/Release\\Sample.pdb", id_);
    ASSERT_TRUE(pdb.ok()) << pdb.error().message;
    EXPECT_EQ(TextOf(*pdb), files_[pdb_path_]);
  }
  EXPECT_EQ(web_.asked().size(), 1u);
  EXPECT_EQ(FilesInCache(), 1u);
  struct stat s;
  ASSERT_EQ(::stat(around_.Path("cache/clrscope").c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 077, 0u) << "for this user alone";
}

TEST_F(SymbolServerTest, TheStampIsComparedWhereItIsKnown) {
  const auto server = Open(web_.Url("/store"));
  symbols::PdbId any = id_, other = id_;
  any.stamp = 0;
  other.stamp ^= 1;
  EXPECT_EQ(server->FindPdb("Sample.pdb", other).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(FilesInCache(), 0u);
  fs::remove_all(around_.Path("cache"));
  EXPECT_TRUE(server->FindPdb("Sample.pdb", any).ok());
}

TEST_F(SymbolServerTest, WhatIsNotThereIsNotAskedForAgainForADay) {
  symbols::PdbId other = id_;
  other.guid.a ^= 1;
  for (int i = 0; i < 2; ++i) {
    const auto server = Open(web_.Url("/store"));
    const auto pdb = server->FindPdb("Sample.pdb", other);
    EXPECT_EQ(pdb.error().code, ErrorCode::kNotFound);
    EXPECT_EQ(server->trouble(), std::nullopt) << "it does answer";
  }
  EXPECT_EQ(web_.asked().size(), 1u);
  for (const auto& entry : fs::recursive_directory_iterator(around_.Path("cache")))
    if (entry.path().extension() == ".missing")
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(25));
  (void)Open(web_.Url("/store"))->FindPdb("Sample.pdb", other);
  EXPECT_EQ(web_.asked().size(), 2u);
}

TEST_F(SymbolServerTest, AnotherFileThanWasAskedForIsRefused) {
  for (const std::string& body : {std::string("<html>signed out</html>"), std::string(),
                                  TextOf(symbols::ReadSample("Sample.dll"))}) {
    fs::remove_all(around_.Path("cache"));
    files_[pdb_path_] = body;
    const auto server = Open(web_.Url("/store"));
    EXPECT_EQ(server->FindPdb("Sample.pdb", id_).error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(FilesInCache(), 0u);
  }
}

TEST_F(SymbolServerTest, ADamagedCacheIsMendedAndOtherServersHaveTheirOwn) {
  ASSERT_TRUE(Open(web_.Url("/store"))->FindPdb("Sample.pdb", id_).ok());
  for (const auto& entry : fs::recursive_directory_iterator(around_.Path("cache")))
    if (entry.is_regular_file()) fs::resize_file(entry.path(), 100);
  ASSERT_TRUE(Open(web_.Url("/store"))->FindPdb("Sample.pdb", id_).ok());
  EXPECT_EQ(web_.asked().size(), 2u);
  EXPECT_EQ(Open(web_.Url("/elsewhere"))->FindPdb("Sample.pdb", id_).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(web_.asked().size(), 3u);
}

TEST_F(SymbolServerTest, HostileNamesStayInTheCache) {
  const auto server = Open(web_.Url("/store"));
  for (const std::string& name :
       {std::string("/etc/passwd/.."), std::string("."), std::string("a/"), std::string(),
        std::string(5000, 'x'), std::string("..\\..")})
    EXPECT_EQ(server->FindPdb(name, id_).error().code, ErrorCode::kNotFound) << name;
  EXPECT_TRUE(web_.asked().empty());
  (void)server->FindPdb("a b\r\nHost: x?.pdb", id_);
  ASSERT_EQ(web_.asked().size(), 1u);
  EXPECT_TRUE(web_.asked()[0].starts_with("/store/a%20b%0d%0ahost%3A%20x%3F.pdb/") ||
              web_.asked()[0].starts_with("/store/a%20b%0D%0Ahost%3A%20x%3F.pdb/"))
      << web_.asked()[0];
}

TEST_F(SymbolServerTest, AServerThatDoesNotAnswerIsAskedOnce) {
  std::string url;
  {
    fetch::WebServer gone([](const std::string&) { return fetch::WebServer::Answer{}; });
    url = gone.Url("/store");
  }
  const auto server = Open(url);
  EXPECT_EQ(server->FindPdb("Sample.pdb", id_).error().code, ErrorCode::kIo);
  ASSERT_TRUE(server->trouble());
  EXPECT_NE(server->trouble()->find("127.0.0.1"), std::string::npos) << *server->trouble();
  EXPECT_EQ(server->FindElfSymbols(std::string(40, 'a')).error().code, ErrorCode::kIo);
}

TEST_F(SymbolServerTest, AServerThatRefusesEverythingIsLeftAlone) {
  fetch::WebServer refuses(
      [](const std::string&) { return fetch::WebServer::Answer{.status = 403}; });
  const auto server = Open(refuses.Url("/store"));
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(server->FindElfSymbols(std::string(40, 'a')).ok());
  EXPECT_EQ(refuses.asked().size(), 3u);
  ASSERT_TRUE(server->trouble());
  EXPECT_NE(server->trouble()->find("403"), std::string::npos) << *server->trouble();
}

TEST_F(SymbolServerTest, Addresses) {
  EXPECT_TRUE(SymbolServer::Open("microsoft").ok());
  EXPECT_EQ(SymbolServer::Open("symbols.example.com").error().code, ErrorCode::kUsage);
  EXPECT_EQ(SymbolServer::Open("http://symbols.example.com/").error().code, ErrorCode::kUsage);
  around_.Set("XDG_CACHE_HOME", "");
  around_.Set("HOME", "");
  EXPECT_NE(SymbolServer::Open("microsoft").error().message.find("XDG_CACHE_HOME"),
            std::string::npos);
}

TEST_F(SymbolServerTest, SymbolsOfALibrary) {
  if (!symbols::HaveTools()) GTEST_SKIP() << "no c++, objcopy, nm and xz on this machine";
  const symbols::CompiledLibrary library;
  ASSERT_TRUE(library.made());
  const auto bytes = library.Read("stripped.so");
  const auto file = symbols::ElfFile::Parse(bytes);
  const std::string id = file->build_id();
  files_["/store/_.debug/elf-buildid-sym-" + id + "/_.debug"] = TextOf(library.Read("whole.debug"));
  const auto server = Open(web_.Url("/store"));
  fs::copy_file(library.Path("stripped.so"), around_.Path("lib.so"));
  MappedFile mapped;
  mapped.path = around_.Path("lib.so");
  mapped.build_id = id;
  const symbols::ElfSection* text = file->Section(".text");
  uint64_t hidden = 0;
  for (const auto& [address, names] : symbols::NmFunctions("-C", library.Path("whole.so")))
    if (names.contains("shop::Hidden(int)")) hidden = address;
  const uint64_t offset = hidden - text->address + text->offset;

  NativeSymbols without;
  const auto functions = without.Of(FileRoot::Own(), mapped);
  EXPECT_TRUE(functions == nullptr || functions->NameAt(offset, mapped).empty());
  NativeSymbols with({.server = server.get()});
  const auto more = with.Of(FileRoot::Own(), mapped);
  ASSERT_NE(more, nullptr);
  EXPECT_EQ(more->NameAt(offset, mapped), "shop::Hidden(int)");
  // Of a short id the protocol wants 20 bytes.
  (void)server->FindElfSymbols("0123456789abcdef");
  EXPECT_EQ(web_.asked().back(),
            "/store/_.debug/elf-buildid-sym-0123456789abcdef000000000000000000000000/_.debug");
}

}  // namespace
}  // namespace clrscope::symbol_files
