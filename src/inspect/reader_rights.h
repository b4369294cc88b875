// SPDX-License-Identifier: Apache-2.0
// With which rights the target's own library may be loaded: never with more than the target has.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "ipc/processes/process_facts.h"

namespace clrscope::inspect {

struct ReaderRights {
  bool change_user = false;
  uid_t uid = 0;
  gid_t gid = 0;
};

struct Capabilities {
  uint64_t ours = 0, theirs = 0;  // effective
};
inline constexpr uid_t kNobody = 65534;

// errors: kPermission
Result<ReaderRights> RightsFor(uid_t us, uid_t target_uid, gid_t target_gid, Capabilities caps,
                               bool other_namespace);
// The same by looking at the process.
Result<ReaderRights> RightsFor(const ipc::ProcessFacts& facts);

}  // namespace clrscope::inspect
