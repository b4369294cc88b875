// SPDX-License-Identifier: Apache-2.0
// Assemblies and PDBs against System.Reflection.Metadata, by symbols/oracle/Program.cs: equal, line
// by line.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/testing/source_dir.h"
#include "clr/type_name.h"
#include "symbols_text.h"

namespace clrscope {
namespace {

// Of a file in symbols/.
std::string FileText(const std::string& name) {
  std::ifstream in(std::filesystem::path(SourceDir()) / "tests/golden/symbols" / name,
                   std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

class SymbolsGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(SymbolsGolden, EqualsSystemReflectionMetadata) {
  const std::string name = GetParam();
  const std::string assembly = FileText(name + ".dll");
  const std::string pdb = FileText(name + ".pdb");
  const auto ours = golden::SymbolsText(AsBytes(assembly.data(), assembly.size()),
                                        AsBytes(pdb.data(), pdb.size()));
  ASSERT_TRUE(ours.ok()) << ours.error().message;
  std::vector<std::string> theirs = LinesOf(FileText(name + ".txt"));
  // Theirs are the runtime's names.
  for (std::string& line : theirs) {
    const size_t type = line.rfind(' ') + 1;
    if (line.starts_with("field "))
      line = line.substr(0, type) + clr::CsharpTypeName(line.substr(type));
  }
  EXPECT_GT(theirs.size(), 100u);
  EXPECT_EQ(LinesOf(*ours), theirs);
}

INSTANTIATE_TEST_SUITE_P(All, SymbolsGolden,
                         ::testing::Values("Sample", "SampleEmbedded", "SampleR2r8", "SampleR2r9",
                                           "SampleR2r10", "FsSample", "VbSample"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace clrscope
