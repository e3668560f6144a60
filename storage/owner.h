// Who is writing an answer. Two processes may share one file (the window and a terminal chat), so a row that
// is being streamed carries its writer's name; at start-up the rows of writers that no longer run are the
// ones that were cut short.
//
// A name is "boot id-pid-start time-number": a process id that was given out again is told apart by the
// start time, a rebooted machine by the boot id.
#pragma once

#include <string>
#include <string_view>

namespace tandem::storage {

// The name of one open store, valid for as long as the object lives. Any thread.
class Owner {
 public:
  Owner();
  ~Owner();
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

// True while the named writer runs, in this process or another one. False for an empty or malformed name.
bool ownerAlive(std::string_view name);

}  // namespace tandem::storage
