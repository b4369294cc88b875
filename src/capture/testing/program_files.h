// SPDX-License-Identifier: Apache-2.0
// Executable files that a test makes.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "ipc/testing/fake_peer.h"

namespace clrscope::capture {

class ProgramFiles : public ::testing::Test {
 protected:
  // Its path.
  std::string Write(const std::string& name, const std::string& bytes) const {
    const std::string path = dir_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    ::chmod(path.c_str(), 0700);
    return path;
  }
  ipc::testing::TempDir dir_;
};

}  // namespace clrscope::capture
