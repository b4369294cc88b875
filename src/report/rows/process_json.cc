// SPDX-License-Identifier: Apache-2.0
#include "report/rows/process_json.h"

#include "profile/estimate/estimate.h"

namespace clrscope::report {
namespace {

Json Known(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json Known(ipc::Tristate state) {
  return state == ipc::Tristate::kUnknown ? Json() : Json(state == ipc::Tristate::kYes);
}

}  // namespace

Json ProcessJson(const ipc::DotnetProcess& p) {
  Json json{{"pid", p.pid}, {"name", Known(p.name)}, {"command_line", Known(p.command_line)}};
  json["runtime"] = Known(p.clr_version);
  json["arch"] = Known(p.arch);
  json["entry_assembly"] = Known(p.entry_assembly);
  json["gc_server"] = Known(p.gc.server);
  json["gc_concurrent"] = Known(p.gc.concurrent);
  json["rss_bytes"] = p.rss_bytes;
  json["uptime_s"] = p.uptime_s;
  json["uid"] = p.uid;
  json["inner_pid"] = p.inner_pid;
  json["event"] = p.sampling == ipc::SamplingEvent::kAllocationSampled
                      ? Json(EventName(profile::Source::kSampled))
                  : p.sampling == ipc::SamplingEvent::kAllocationTick
                      ? Json(EventName(profile::Source::kTick))
                      : Json();
  json["open_sessions"] = p.open_sessions;
  json["attachable"] = p.attachable;
  json["reason"] = p.attachable ? Json() : Json(p.reason);
  json["reason_code"] = p.attachable ? Json() : Json(CodeName(p.reason_code));
  return json;
}

std::string_view CodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kEmpty:
      return "empty";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kNotDotnet:
      return "not_dotnet";
    case ErrorCode::kPermission:
      return "permission";
    case ErrorCode::kRefused:
      return "refused";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kTruncated:
      return "truncated";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kFailed:
      break;
  }
  return "failed";
}

}  // namespace clrscope::report
