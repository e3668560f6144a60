#include "tests/storage/fault_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace tandem::testing {

namespace {

constexpr std::int64_t kSector = 512;

struct Change {
  std::int64_t offset = 0;
  std::string data;
  std::optional<std::int64_t> truncate;  // instead of data: the file's new size
};

struct Image {
  std::string synced;
  std::vector<Change> pending;
};

struct State {
  std::mutex mutex;
  bool full = false;
  bool readOnly = false;
  bool unreadable = false;
  int writes = 0;
  int fullAt = -1;
  std::string prefix;  // of the recorded files; empty: none
  std::map<std::string, Image> images;

  bool records(const std::string& path) const {
    return !prefix.empty() && path.compare(0, prefix.size(), prefix) == 0;
  }
};

State state;
sqlite3_vfs* systemVfs = nullptr;

// The file as SQLite holds it: ours, with the system's own behind it in the same block.
struct FaultFile {
  sqlite3_file base;
  std::string* path;
  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

FaultFile* ours(sqlite3_file* file) {
  return reinterpret_cast<FaultFile*>(file);
}
sqlite3_file* inner(sqlite3_file* file) {
  return ours(file)->inner();
}

void applyChange(const Change& change, std::string& bytes) {
  if (change.truncate) {
    bytes.resize(static_cast<std::size_t>(*change.truncate));
    return;
  }
  const std::size_t end = static_cast<std::size_t>(change.offset) + change.data.size();
  if (bytes.size() < end) bytes.resize(end);
  std::memcpy(bytes.data() + change.offset, change.data.data(), change.data.size());
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

int closeFile(sqlite3_file* file) {
  const int code = inner(file)->pMethods->xClose(inner(file));
  delete ours(file)->path;
  return code;
}

int readFile(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  {
    const std::lock_guard lock(state.mutex);
    if (state.unreadable) return SQLITE_IOERR_READ;
  }
  return inner(file)->pMethods->xRead(inner(file), data, size, offset);
}

int writeFile(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const std::lock_guard lock(state.mutex);
  if (state.readOnly) return SQLITE_READONLY;
  if (state.fullAt >= 0 && state.writes >= state.fullAt) state.full = true;
  ++state.writes;
  sqlite3_int64 now = 0;
  inner(file)->pMethods->xFileSize(inner(file), &now);
  if (state.full && offset + size > now) return SQLITE_FULL;
  if (state.records(*ours(file)->path)) {
    state.images[*ours(file)->path].pending.push_back(
        {offset, std::string(static_cast<const char*>(data), static_cast<std::size_t>(size)), std::nullopt});
  }
  return inner(file)->pMethods->xWrite(inner(file), data, size, offset);
}

int truncateFile(sqlite3_file* file, sqlite3_int64 size) {
  const std::lock_guard lock(state.mutex);
  if (state.readOnly) return SQLITE_READONLY;
  if (state.records(*ours(file)->path)) state.images[*ours(file)->path].pending.push_back({0, {}, size});
  return inner(file)->pMethods->xTruncate(inner(file), size);
}

int syncFile(sqlite3_file* file, int flags) {
  const std::lock_guard lock(state.mutex);
  if (state.records(*ours(file)->path)) {
    Image& image = state.images[*ours(file)->path];
    for (const Change& change : image.pending)
      applyChange(change, image.synced);
    image.pending.clear();
  }
  return inner(file)->pMethods->xSync(inner(file), flags);
}

int fileSize(sqlite3_file* file, sqlite3_int64* size) {
  return inner(file)->pMethods->xFileSize(inner(file), size);
}
int lockFile(sqlite3_file* file, int level) {
  return inner(file)->pMethods->xLock(inner(file), level);
}
int unlockFile(sqlite3_file* file, int level) {
  return inner(file)->pMethods->xUnlock(inner(file), level);
}
int reservedFile(sqlite3_file* file, int* out) {
  return inner(file)->pMethods->xCheckReservedLock(inner(file), out);
}
int controlFile(sqlite3_file* file, int op, void* arg) {
  return inner(file)->pMethods->xFileControl(inner(file), op, arg);
}
int sectorSize(sqlite3_file*) {
  return kSector;
}
int characteristics(sqlite3_file* file) {
  return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}

int shmMap(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  const auto map = inner(file)->pMethods->xShmMap;
  const int code = map(inner(file), page, size, 0, out);
  if (code != SQLITE_OK || *out || !extend) return code;
  {
    const std::lock_guard lock(state.mutex);
    if (state.full) return SQLITE_IOERR_SHMSIZE;
    if (state.readOnly) return SQLITE_CANTOPEN;
  }
  return map(inner(file), page, size, extend, out);
}
int shmLock(sqlite3_file* file, int offset, int n, int flags) {
  return inner(file)->pMethods->xShmLock(inner(file), offset, n, flags);
}
void shmBarrier(sqlite3_file* file) {
  inner(file)->pMethods->xShmBarrier(inner(file));
}
int shmUnmap(sqlite3_file* file, int remove) {
  return inner(file)->pMethods->xShmUnmap(inner(file), remove);
}

const sqlite3_io_methods kMethods = {2,           closeFile,  readFile,        writeFile,  truncateFile,
                                     syncFile,    fileSize,   lockFile,        unlockFile, reservedFile,
                                     controlFile, sectorSize, characteristics, shmMap,     shmLock,
                                     shmBarrier,  shmUnmap,   nullptr,         nullptr};

int openFile(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* outFlags) {
  FaultFile* fault = ours(file);
  fault->base.pMethods = nullptr;
  const std::string path = name ? name : "";
  bool exists = false;
  {
    const std::lock_guard lock(state.mutex);
    std::error_code ignored;
    exists = std::filesystem::exists(path, ignored);
    if (state.readOnly) {
      if (!exists) return SQLITE_CANTOPEN;
      flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    }
  }
  const int code = systemVfs->xOpen(systemVfs, name, fault->inner(), flags, outFlags);
  if (code != SQLITE_OK) return code;
  fault->base.pMethods = &kMethods;
  fault->path = new std::string(path);
  const std::lock_guard lock(state.mutex);
  if (state.records(path) && !state.images.contains(path)) state.images[path].synced = contents(path);
  return SQLITE_OK;
}

int deleteFile(sqlite3_vfs*, const char* name, int syncDir) {
  const std::lock_guard lock(state.mutex);
  if (state.readOnly) return SQLITE_READONLY;
  state.images.erase(name);
  return systemVfs->xDelete(systemVfs, name, syncDir);
}

}  // namespace

FaultVfs::FaultVfs() {
  systemVfs = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs vfs = *systemVfs;
  vfs.zName = kName;
  vfs.szOsFile = static_cast<int>(sizeof(FaultFile)) + systemVfs->szOsFile;
  vfs.pNext = nullptr;
  vfs.xOpen = openFile;
  vfs.xDelete = deleteFile;
  sqlite3_vfs_register(&vfs, 0);
}

FaultVfs& FaultVfs::instance() {
  static FaultVfs vfs;
  return vfs;
}

void FaultVfs::reset() {
  const std::lock_guard lock(state.mutex);
  state.full = state.readOnly = state.unreadable = false;
  state.writes = 0;
  state.fullAt = -1;
  state.prefix.clear();
  state.images.clear();
}

void FaultVfs::setFull(bool full) {
  const std::lock_guard lock(state.mutex);
  state.full = full;
  state.fullAt = -1;
}

void FaultVfs::fullAfter(int writes) {
  const std::lock_guard lock(state.mutex);
  state.fullAt = state.writes + writes;
}

void FaultVfs::setReadOnly(bool readOnly) {
  const std::lock_guard lock(state.mutex);
  state.readOnly = readOnly;
}

void FaultVfs::setUnreadable(bool unreadable) {
  const std::lock_guard lock(state.mutex);
  state.unreadable = unreadable;
}

int FaultVfs::writes() const {
  const std::lock_guard lock(state.mutex);
  return state.writes;
}

void FaultVfs::record(const std::string& prefix) {
  const std::lock_guard lock(state.mutex);
  state.prefix = prefix;
}

void FaultVfs::powerCut(const std::string& folder, std::mt19937& random) {
  std::map<std::string, Image> images;
  {
    const std::lock_guard lock(state.mutex);
    images = state.images;
  }
  std::filesystem::create_directories(folder);
  for (auto& [path, image] : images) {
    if (path.ends_with("-shm")) continue;
    std::string bytes = image.synced;
    for (Change& change : image.pending) {
      const auto dice = random() % 8;
      if (dice < 3) continue;
      if (dice == 7 && !change.truncate) {
        const auto sectors = static_cast<std::int64_t>(change.data.size()) / kSector;
        change.data.resize(static_cast<std::size_t>(random() % static_cast<unsigned>(sectors + 1) * kSector));
      }
      applyChange(change, bytes);
    }
    std::ofstream out(folder + "/" + std::filesystem::path(path).filename().string(), std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace tandem::testing
