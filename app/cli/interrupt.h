// Ctrl-C while the object lives: sets a flag in place of ending the program. One at a time; the flag may be
// read by any thread.
#pragma once

#include <signal.h>

#include <atomic>

namespace tandem::cli {

class Interrupt {
 public:
  // wakeFd: a byte is written there too, for who waits in poll(); -1: none.
  explicit Interrupt(int wakeFd = -1);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& flag() const;
  bool take();  // whether there was a Ctrl-C since the last call

 private:
  struct sigaction before_;
};

}  // namespace tandem::cli
