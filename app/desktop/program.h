// The whole program but its main(): options, places, one window per home, log, store, engine and window.
#pragma once

#include <functional>

#include "app/desktop/composition.h"

namespace tandem::desktop {

// Runs until the window is closed; returns the exit status (0, or 2 with a sentence on stderr). `onShown` is
// called once the window is shown: the end-to-end test starts its scripted person there.
int runProgram(int argc, char** argv, const std::function<void(Composition&)>& onShown = {});

}  // namespace tandem::desktop
