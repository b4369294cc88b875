// SPDX-License-Identifier: Apache-2.0
// A sink that takes nothing.
#pragma once

#include <string_view>

#include "base/byte_sink.h"

namespace clrscope::exporter::testing {

class FullSink final : public ByteSink {
 public:
  Status Write(std::string_view) override { return Error{ErrorCode::kIo, "full"}; }
};

}  // namespace clrscope::exporter::testing
