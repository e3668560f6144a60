// The main loop of a program at a terminal: lines that were typed, Ctrl-C, and tasks that other threads post,
// handled one at a time on one thread.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/interrupt.h"

namespace tandem::cli {

// Text as it may be written to a terminal: control characters but newline and tab become U+FFFD, so that no
// model's answer can move the cursor or set the title.
std::string terminalSafe(std::string_view text);

class MainLoop {
 public:
  enum class Event {
    kTasks,      // posted tasks were run
    kLine,       // line() is what was typed, without its newline
    kEnd,        // standard input has ended (Ctrl-D)
    kInterrupt,  // Ctrl-C
  };

  MainLoop();
  ~MainLoop();
  MainLoop(const MainLoop&) = delete;
  MainLoop& operator=(const MainLoop&) = delete;

  // Any thread. Tasks that are still waiting when the loop goes are dropped.
  void post(std::function<void()> task);

  // Waits for the next event; lines are read only when they are wanted, and wait until then.
  Event wait(bool wantLine);
  const std::string& line() const { return line_; }

 private:
  struct Pipe {
    int fds[2];
    Pipe();
    ~Pipe();
  };
  bool runTasks();
  bool takeLine();
  bool readMore();  // false: standard input has ended

  Pipe wake_;
  Interrupt interrupt_;
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
  std::string typed_, line_;
  bool ended_ = false;
};

}  // namespace tandem::cli
