// The window's log: a rotating file under the state folder, and warnings on stderr. It holds what the program
// did and what went wrong, never the text of a conversation.
#pragma once

#include "app/places/places.h"

namespace tandem::desktop {

// Starts the log and sends Qt's own messages to it. A file that cannot be opened is said on stderr; the
// program goes on without one.
void startLog(const Places& places);

}  // namespace tandem::desktop
