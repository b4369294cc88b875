// SPDX-License-Identifier: Apache-2.0
#include "cli/version.h"

#include <fmt/format.h>

#include "base/program_version.h"
#include "capture/agents/agent_image.h"
#include "export/html.h"
#include "fetch/trust.h"

namespace clrscope::cli {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kMachine = "x64";
#elif defined(__aarch64__)
constexpr std::string_view kMachine = "arm64";
#else
constexpr std::string_view kMachine = "other";
#endif

}  // namespace

std::string VersionText(const Build& build) {
  std::string text = fmt::format("{} ({})\nlinux-{}", ProgramVersion(), build.commit, kMachine);
  if (build.static_link) text += ", static";
  text += capture::HasAgentFor(capture::Libc::kMusl) ? ", agent (glibc, musl)" : ", agent (glibc)";
  if (exporter::HasWebPage()) text += ", web page";
  text += fmt::format(", TLS (OpenSSL {})\n", fetch::TlsVersion());
  return text;
}

}  // namespace clrscope::cli
