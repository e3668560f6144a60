#include "tests/cache/power_cut_ops.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tandem::test {
namespace {

constexpr std::size_t kSector = 512;

std::string nameOf(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

void put(std::string& bytes, std::size_t offset, std::string_view data) {
  if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size());
  std::memcpy(bytes.data() + offset, data.data(), data.size());
}

}  // namespace

int PowerCutOps::create(const std::string& path, int& descriptor) {
  called();
  const int code = FileOps::create(path, descriptor);
  if (code != 0) return code;
  const auto file = std::make_shared<File>();
  open_[descriptor] = file;
  change({{}, nameOf(path), file});
  return 0;
}

int PowerCutOps::write(int descriptor, const void* data, std::size_t size) {
  called();
  File& file = *open_.at(descriptor);
  file.pending.push_back({file.size, std::string(static_cast<const char*>(data), size)});
  file.size += size;
  return FileOps::write(descriptor, data, size);
}

int PowerCutOps::sync(int descriptor) {
  called();
  if (lies_) return 0;
  File& file = *open_.at(descriptor);
  for (const Write& one : file.pending)
    put(file.synced, one.offset, one.data);
  file.pending.clear();
  return FileOps::sync(descriptor);
}

int PowerCutOps::rename(const std::string& from, const std::string& to) {
  called();
  change({nameOf(from), nameOf(to), now_.at(nameOf(from))});
  return FileOps::rename(from, to);
}

int PowerCutOps::remove(const std::string& path) {
  called();
  change({nameOf(path), {}, nullptr});
  return FileOps::remove(path);
}

int PowerCutOps::syncFolder(const std::string& path) {
  called();
  if (lies_) return 0;
  synced_ = now_;
  pending_.clear();
  return FileOps::syncFolder(path);
}

void PowerCutOps::change(const NameChange& change) {
  apply(change, now_);
  pending_.push_back(change);
}

void PowerCutOps::apply(const NameChange& change, Names& names) {
  names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.file;
}

std::string PowerCutOps::left(const File& file, std::mt19937& random) {
  std::string bytes = file.synced;
  for (const Write& one : file.pending) {
    if (random() % 3 == 0) continue;
    std::string_view data = one.data;
    if (random() % 3 == 0) data = data.substr(0, random() % (data.size() + 1) / kSector * kSector);
    if (!data.empty()) put(bytes, one.offset, data);
  }
  // The size may be there before the bytes are.
  if (random() % 2 == 0) bytes.resize(std::max(bytes.size(), file.size));
  return bytes;
}

void PowerCutOps::powerCut(const std::string& folder, std::mt19937& random) const {
  Names names = synced_;
  const bool all = random() % 3 == 0;
  for (const NameChange& change : pending_)
    if (all || random() % 2 == 0) apply(change, names);
  for (const auto& [name, file] : names) {
    const std::string bytes = left(*file, random);
    std::ofstream(folder + "/" + name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace tandem::test
