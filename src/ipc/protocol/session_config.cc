// SPDX-License-Identifier: Apache-2.0
// CollectTracing 2 to 6, field by field.
#include "ipc/protocol/session_config.h"

#include <fmt/format.h>

#include "ipc/protocol/message.h"

namespace clrscope::ipc {
namespace {

constexpr size_t kMaxProviders = 1000;  // the runtime's own limit
constexpr uint32_t kVerbose = 5;
constexpr uint32_t kStreamingSession = 0;  // 1 would be Linux user_events

Status Validate(const SessionConfig& config) {
  const auto bad = [](std::string message) { return Error{ErrorCode::kUsage, std::move(message)}; };
  if (config.providers.empty()) return bad("a session needs at least one provider");
  if (config.providers.size() > kMaxProviders)
    return bad(fmt::format("a session takes at most {} providers", kMaxProviders));
  if (config.buffer_mb == 0) return bad("a session needs a buffer of at least 1 MB");
  for (const ProviderConfig& provider : config.providers) {
    if (provider.name.empty()) return bad("a provider needs a name");
    if (provider.level > kVerbose)
      return bad(
          fmt::format("{}: level {} is more than {}", provider.name, provider.level, kVerbose));
  }
  return OkStatus();
}

// {0, {}} on the wire lets every event through.
void WriteFilter(MessageWriter& out, const std::optional<EventFilter>& filter) {
  out.Bool(filter && filter->enable);
  out.U32(filter ? static_cast<uint32_t>(filter->ids.size()) : 0);
  if (!filter) return;
  for (const uint32_t id : filter->ids) out.U32(id);
}

}  // namespace

SessionLimits LimitsOf(int version) {
  return {.filters = version >= 5,
          .rundown_keyword = version >= 4,
          .stackwalk = version >= 3,
          .buffering = version >= 6};
}

Result<std::vector<std::byte>> EncodeCollectTracing(int version, const SessionConfig& config) {
  RETURN_IF_ERROR(Validate(config));
  if (version < kMinCollectVersion || version > kMaxCollectVersion)
    return Error{ErrorCode::kUsage, fmt::format("there is no CollectTracing{}", version)};
  const auto command = static_cast<int>(Command::kCollectTracing1) + version - 1;
  const SessionLimits can = LimitsOf(version);

  MessageWriter out(static_cast<Command>(command));
  if (version >= 5) out.U32(kStreamingSession);
  out.U32(config.buffer_mb).U32(config.format);
  if (can.rundown_keyword)
    out.U64(config.rundown_keyword);
  else
    out.Bool(config.rundown_keyword != 0);
  if (can.stackwalk) out.Bool(config.stackwalk);
  out.U32(static_cast<uint32_t>(config.providers.size()));
  for (const ProviderConfig& provider : config.providers) {
    out.U64(provider.keywords).U32(provider.level).String(provider.name);
    out.StringOrNull(provider.args);
    if (can.filters) WriteFilter(out, provider.filter);
  }
  if (can.buffering) out.U32(static_cast<uint32_t>(config.buffering));
  return out.Finish();
}

}  // namespace clrscope::ipc
