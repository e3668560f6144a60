#include "storage/owner.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>

namespace tandem::storage {

namespace {

std::mutex aliveMutex;
std::set<std::string, std::less<>> aliveHere;  // the owners of this process

std::string bootId() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id.substr(0, 8);
}

// The process's start in clock ticks since boot, field 22 of /proc/PID/stat; empty when there is no such
// process or only its remains (state Z). The name in parentheses may hold spaces: fields count from there.
std::string startTime(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  const std::string all{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t name = all.rfind(')');
  if (name == std::string::npos) return {};
  std::istringstream rest(all.substr(name + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) {
    rest >> field;
    if (i == 3 && field == "Z") return {};
  }
  return field;
}

}  // namespace

Owner::Owner() {
  static int number = 0;
  const std::string pid = std::to_string(getpid());
  const std::lock_guard lock(aliveMutex);
  name_ = bootId() + "-" + pid + "-" + startTime(pid) + "-" + std::to_string(++number);
  aliveHere.insert(name_);
}

Owner::~Owner() {
  const std::lock_guard lock(aliveMutex);
  aliveHere.erase(name_);
}

bool ownerAlive(std::string_view name) {
  {
    const std::lock_guard lock(aliveMutex);
    if (aliveHere.contains(name)) return true;
  }
  std::istringstream fields{std::string(name)};
  std::string boot, pid, start;
  if (!std::getline(fields, boot, '-') || !std::getline(fields, pid, '-') ||
      !std::getline(fields, start, '-')) {
    return false;
  }
  if (start.empty() || pid.empty() || pid.find_first_not_of("0123456789") != std::string::npos) return false;
  return pid != std::to_string(getpid()) && boot == bootId() && startTime(pid) == start;
}

}  // namespace tandem::storage
