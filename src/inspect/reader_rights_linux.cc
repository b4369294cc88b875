// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/reader_rights.h"
#include "ipc/processes/proc_linux.h"

namespace clrscope::inspect {
namespace {

uint64_t EffectiveCapabilities(pid_t pid) {
  const Result<ipc::ProcStatus> status = ipc::ReadProcStatus(pid);
  return status.ok() ? status->capabilities : 0;
}

}  // namespace

Result<ReaderRights> RightsFor(uid_t us, uid_t target_uid, gid_t target_gid, Capabilities caps,
                               bool other_namespace) {
  if (us != 0) {
    if (us == target_uid) return ReaderRights{};
    return Error{ErrorCode::kPermission,
                 fmt::format("the process belongs to user {}, and its runtime's library is not "
                             "loaded as user {}: run clrscope as that user, or as root",
                             target_uid, us)};
  }
  if (target_uid != 0) return ReaderRights{true, target_uid, target_gid};
  // Root within a container is not root of the machine, even where both have the number 0.
  if (other_namespace || (caps.ours & ~caps.theirs) != 0)
    return ReaderRights{true, kNobody, kNobody};
  return ReaderRights{};
}

Result<ReaderRights> RightsFor(const ipc::ProcessFacts& facts) {
  const std::string pid = std::to_string(facts.pid);
  struct stat folder {};
  const gid_t group = ::stat(("/proc/" + pid).c_str(), &folder) == 0 ? folder.st_gid : kNobody;
  const bool other_user_namespace =
      ipc::ReadLink("/proc/self/ns/user") != ipc::ReadLink("/proc/" + pid + "/ns/user");
  return RightsFor(::geteuid(), facts.uid, group,
                   {EffectiveCapabilities(::getpid()), EffectiveCapabilities(facts.pid)},
                   facts.other_mount_namespace || other_user_namespace);
}

}  // namespace clrscope::inspect
