#include "app/cli/interrupt.h"

#include <unistd.h>

#include <cerrno>

namespace tandem::cli {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<int> wakeFd = -1;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void onInterrupt(int) {
  const int error = errno;
  interrupted = true;
  const char byte = 0;
  // A full pipe wakes the reader just as well.
  if (const int fd = wakeFd; fd >= 0 && write(fd, &byte, 1) < 0) errno = error;
  errno = error;
}

}  // namespace

Interrupt::Interrupt(int fd) {
  interrupted = false;
  wakeFd = fd;
  struct sigaction action = {};
  action.sa_handler = onInterrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_, nullptr);
  wakeFd = -1;
}

const std::atomic<bool>& Interrupt::flag() const {
  return interrupted;
}

bool Interrupt::take() {
  return interrupted.exchange(false);
}

}  // namespace tandem::cli
