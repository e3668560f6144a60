#include "engine/model/weight_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/model/weight_file.h"

namespace tandem {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSuffix = ".weights";
constexpr std::string_view kTemporary = ".partial";
constexpr std::size_t kHexDigits = 32;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool isHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Whether a name is one that this file gives: of weights, or of a temporary file for them.
bool isOurs(std::string_view name, std::string_view suffix) {
  constexpr std::size_t kStem = 2 * kHexDigits + 1;
  return name.size() > kStem && name[kHexDigits] == '-' && isHex(name.substr(0, kHexDigits)) &&
         isHex(name.substr(kHexDigits + 1, kHexDigits)) && name.substr(kStem).starts_with(kSuffix) &&
         name.ends_with(suffix);
}

// Makes the folder and those above it, for their owner only.
bool makeFolder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return true;
  if (folder.has_parent_path() && folder.parent_path() != folder && !makeFolder(folder.parent_path()))
    return false;
  return ::mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST;
}

struct KeptFile {
  fs::path path;
  std::uint64_t bytes;
  std::int64_t usedNs;
};

// Regular files in the folder whose names are ours and end in `suffix`.
std::vector<KeptFile> filesIn(const fs::path& folder, std::string_view suffix) {
  std::vector<KeptFile> files;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    struct stat info = {};
    if (!isOurs(i->path().filename().string(), suffix)) continue;
    if (::lstat(i->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    files.push_back({i->path(), static_cast<std::uint64_t>(info.st_size),
                     std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec});
  }
  return files;
}

// Removes temporary files that no program has locked: those who wrote them are gone.
void removeLeftOvers(const fs::path& folder) {
  for (const KeptFile& file : filesIn(folder, kTemporary)) {
    const Descriptor descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (descriptor.ok() && ::flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(file.path.c_str());
  }
}

// Maps `bytes` of a file from its beginning; null when that fails.
std::shared_ptr<std::uint8_t> mapFile(int descriptor, std::uint64_t bytes, int protection) {
  void* address = ::mmap(nullptr, bytes, protection, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return nullptr;
  ::madvise(address, bytes, MADV_HUGEPAGE);  // fewer misses of the address translation
  return {static_cast<std::uint8_t*>(address), [bytes](std::uint8_t* p) { ::munmap(p, bytes); }};
}

// Reads a part of a mapping into memory. False when the disk cannot give it; touching it would then end the
// process. What an older kernel does not do here it does when the part is touched.
bool readIn(const std::uint8_t* begin, std::uint64_t bytes) {
  return ::madvise(const_cast<std::uint8_t*>(begin), bytes, MADV_POPULATE_READ) == 0 || errno == EINVAL;
}

// Compares every block with its hash.
bool isUndamaged(std::span<const std::uint8_t> data, std::span<const std::uint64_t> table, ThreadPool& pool,
                 const std::function<void(double)>& progress) {
  constexpr int kStep = 64;  // blocks between two reports
  std::atomic<bool> good = true;
  const int blocks = static_cast<int>(table.size());
  for (int first = 0; first < blocks && good; first += kStep) {
    const int count = std::min(kStep, blocks - first);
    pool.parallelFor(count, 1, [&](int begin, int end) {
      for (int i = first + begin; i < first + end; ++i) {
        const std::uint64_t offset = static_cast<std::uint64_t>(i) * weight_file::kBlock;
        const bool same = readIn(data.data() + offset, std::min(weight_file::kBlock, data.size() - offset)) &&
                          weight_file::hashOfBlock(data, static_cast<std::uint64_t>(i)) == table[i];
        if (!same) good = false;
      }
    });
    if (progress) progress(static_cast<double>(first + count) / blocks);
  }
  return good;
}

// Notes that the file was used now, and which file its weights belong to. A folder that is read-only forgoes
// both.
void noteUse(const fs::path& path, int descriptor, const weight_file::Header& header,
             const gguf::FileIdentity& source) {
  const timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  ::futimens(descriptor, times);
  if (weight_file::isFrom(header, source)) return;
  const weight_file::Source known = weight_file::sourceOf(header, source);
  const Descriptor writable(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (known.hash == 0 || !writable.ok()) return;
  // When this is cut short the hash tells it.
  [[maybe_unused]] const ssize_t written =
      ::pwrite(writable.get(), &known, sizeof known, offsetof(weight_file::Header, source));
}

}  // namespace

std::string WeightKey::fileName() const {
  char digits[kHexDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(layout.key[0]),
                static_cast<unsigned long long>(layout.key[1]));
  return fingerprint + '-' + digits + std::string(kSuffix);
}

NewWeightFile::NewWeightFile(int descriptor, fs::path temporary, fs::path path, WeightKey key)
    : descriptor_(descriptor),
      temporary_(std::move(temporary)),
      path_(std::move(path)),
      key_(std::move(key)) {
  const std::uint64_t offset = weight_file::dataOffset(key_.layout.bytes);
  file_ = mapFile(descriptor_, offset + key_.layout.bytes, PROT_READ | PROT_WRITE);
  if (file_) data_ = {file_, file_.get() + offset};
}

NewWeightFile::~NewWeightFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  ::close(descriptor_);
}

void NewWeightFile::keep(const gguf::FileIdentity& source, ThreadPool& pool) {
  const std::span<const std::uint8_t> data(data_.get(), key_.layout.bytes);
  std::vector<std::uint64_t> table(weight_file::blocksOf(data.size()));
  pool.parallelFor(static_cast<int>(table.size()), 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      table[i] = weight_file::hashOfBlock(data, static_cast<std::uint64_t>(i));
  });
  weight_file::Header header = weight_file::makeHeader(key_, table);
  header.source = weight_file::sourceOf(header, source);
  std::memcpy(file_.get() + sizeof header, table.data(), table.size() * sizeof table[0]);
  std::memcpy(file_.get(), &header, sizeof header);
  ::mprotect(file_.get(), weight_file::dataOffset(data.size()) + data.size(), PROT_READ);
  if (::rename(temporary_.c_str(), path_.c_str()) == 0) temporary_.clear();
}

std::optional<std::string> WeightCache::fingerprintOf(const gguf::FileIdentity& file) const {
  for (const KeptFile& kept : filesIn(options_.folder, kSuffix)) {
    const Descriptor descriptor(::open(kept.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    const auto header = weight_file::readHeader(descriptor.get());
    if (header && weight_file::isFrom(*header, file))
      return std::string(header->fingerprint.data(), header->fingerprint.size());
  }
  return std::nullopt;
}

std::shared_ptr<const std::uint8_t> WeightCache::find(const WeightKey& key, const gguf::FileIdentity& source,
                                                      ThreadPool& pool,
                                                      const std::function<void(double)>& progress) const {
  if (options_.folder.empty()) return nullptr;
  const fs::path path = options_.folder / key.fileName();
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info = {};
  if (!descriptor.ok() || ::fstat(descriptor.get(), &info) != 0 || !S_ISREG(info.st_mode)) return nullptr;
  const std::uint64_t bytes = key.layout.bytes, offset = weight_file::dataOffset(bytes);
  if (static_cast<std::uint64_t>(info.st_size) != offset + bytes) return nullptr;
  const auto header = weight_file::readHeader(descriptor.get());
  if (!header || !weight_file::matches(*header, key)) return nullptr;
  const auto table = weight_file::readTable(descriptor.get(), *header);
  if (!table) return nullptr;
  const std::shared_ptr<std::uint8_t> file = mapFile(descriptor.get(), offset + bytes, PROT_READ);
  if (!file || !isUndamaged({file.get() + offset, bytes}, *table, pool, progress)) return nullptr;
  noteUse(path, descriptor.get(), *header, source);
  return {file, file.get() + offset};
}

bool WeightCache::makeRoom(std::uint64_t bytes) const {
  if (bytes > options_.budget) return false;
  std::vector<KeptFile> files = filesIn(options_.folder, kSuffix);
  std::ranges::sort(files, {}, &KeptFile::usedNs);
  std::uint64_t total = bytes;
  for (const KeptFile& file : files)
    total += file.bytes;
  for (const KeptFile& file : files) {
    if (total <= options_.budget) break;
    if (::unlink(file.path.c_str()) == 0) total -= file.bytes;
  }
  std::error_code error;
  const fs::space_info space = fs::space(options_.folder, error);
  return total <= options_.budget && !error && space.available >= options_.freeDisk &&
         space.available - options_.freeDisk >= bytes;
}

std::unique_ptr<NewWeightFile> WeightCache::create(const WeightKey& key) const {
  if (options_.folder.empty() || key.layout.bytes < options_.leastBytes) return nullptr;
  if (!makeFolder(options_.folder)) return nullptr;
  removeLeftOvers(options_.folder);
  const std::uint64_t bytes = weight_file::dataOffset(key.layout.bytes) + key.layout.bytes;
  if (!makeRoom(bytes)) return nullptr;

  const fs::path path = options_.folder / key.fileName();
  std::string temporary = path.string() + ".XXXXXX" + std::string(kTemporary);
  const int descriptor = ::mkostemps(temporary.data(), static_cast<int>(kTemporary.size()), O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  // Locked, so that others see that it is being written.
  ::flock(descriptor, LOCK_EX | LOCK_NB);
  const bool reserved = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes)) == 0;
  auto file = reserved ? std::make_unique<NewWeightFile>(descriptor, temporary, path, key) : nullptr;
  if (!reserved) {
    ::unlink(temporary.c_str());
    ::close(descriptor);
  }
  return file && file->data() ? std::move(file) : nullptr;
}

}  // namespace tandem
