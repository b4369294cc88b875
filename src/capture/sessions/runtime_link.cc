// SPDX-License-Identifier: Apache-2.0
#include "capture/sessions/runtime_link.h"

#include "capture/sessions/providers.h"

namespace clrscope::capture {

// A session that ends is still in the runtime's list when it works out which keywords and events of
// a provider are enabled (dotnet/runtime src/native/eventpipe: config_compute_keyword_and_level in
// ep-config.c, provider_compute_event_enable_mask in ep-provider.c). If another session has the
// provider, the ended one's events go on being made, stacks and all, and are then thrown away,
// until a session on that provider begins.
void Remind(RuntimeLink& link) {
  Result<OpenedStream> opened = link.Open(ReminderSession());
  if (!opened.ok()) return;
  (void)link.Stop(opened->id);
  link.Drop(opened->ring);
}

}  // namespace clrscope::capture
