#include "app/cli/chat_terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tandem::cli {

std::string terminalSafe(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c0 = byte < 0x20 && byte != '\n' && byte != '\t';
    // U+0080 to U+009F are control characters too, written as C2 and 80 to 9F.
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c0 || c1 || byte == 0x7F) {
      safe += "\uFFFD";
      if (c1) ++i;
    } else {
      safe += text[i];
    }
  }
  return safe;
}

MainLoop::Pipe::Pipe() {
  if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
}

MainLoop::Pipe::~Pipe() {
  close(fds[0]);
  close(fds[1]);
}

MainLoop::MainLoop() : interrupt_(wake_.fds[1]) {}

MainLoop::~MainLoop() = default;

void MainLoop::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  const char byte = 0;
  // When the pipe is full there is enough to wake up for.
  [[maybe_unused]] const ssize_t written = write(wake_.fds[1], &byte, 1);
}

bool MainLoop::runTasks() {
  std::vector<std::function<void()>> now;
  {
    const std::lock_guard lock(mutex_);
    now = std::exchange(tasks_, {});
  }
  for (const auto& task : now)
    task();
  return !now.empty();
}

bool MainLoop::takeLine() {
  const std::size_t newline = typed_.find('\n');
  if (newline == std::string::npos) {
    // The last line may have no newline.
    if (!ended_ || typed_.empty()) return false;
    line_ = std::exchange(typed_, {});
    return true;
  }
  line_ = typed_.substr(0, newline);
  typed_.erase(0, newline + 1);
  return true;
}

bool MainLoop::readMore() {
  char part[4096];
  const ssize_t count = read(STDIN_FILENO, part, sizeof part);
  if (count > 0) typed_.append(part, static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

MainLoop::Event MainLoop::wait(bool wantLine) {
  while (true) {
    if (interrupt_.take()) return Event::kInterrupt;
    if (runTasks()) return Event::kTasks;
    if (wantLine && takeLine()) return Event::kLine;
    if (wantLine && ended_) return Event::kEnd;

    pollfd sources[2] = {{wake_.fds[0], POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    if (poll(sources, wantLine ? 2 : 1, -1) < 0) continue;  // a signal
    if (sources[0].revents != 0) {
      char drained[256];
      while (read(wake_.fds[0], drained, sizeof drained) > 0) {
      }
    }
    if (wantLine && sources[1].revents != 0 && !readMore()) ended_ = true;
  }
}

}  // namespace tandem::cli
