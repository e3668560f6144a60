// A disk that fails on demand: a SQLite VFS over the system's own that runs full, becomes read-only, or
// forgets at a power cut what was not synced. Registered under kName; the tests hand that name to the store.
// All of it may be called while stores use the files.
#pragma once

#include <random>
#include <string>

namespace tandem::testing {

class FaultVfs {
 public:
  static constexpr const char* kName = "tandem-fault";

  // Registers the VFS at the first call.
  static FaultVfs& instance();

  // Everything works again, and nothing is recorded.
  void reset();
  // No file can grow any more, as on a disk without a free byte; what is there can be written over.
  void setFull(bool full);
  // The disk becomes full after so many more writes (counted over all files).
  void fullAfter(int writes);
  void setReadOnly(bool readOnly);
  // Every read of a database page fails.
  void setUnreadable(bool unreadable);
  int writes() const;  // since reset()

  // From now on the files below `prefix` (as they are then) are recorded, with every write that follows.
  void record(const std::string& prefix);
  // Writes the recorded files into `folder` as a power cut now could leave them: everything synced, and of
  // the writes since then any, also torn at a sector's edge.
  void powerCut(const std::string& folder, std::mt19937& random);

 private:
  FaultVfs();
};

}  // namespace tandem::testing
