#include "app/service/cache_desk.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/service/loaded_engine.h"

namespace tandem::service {
namespace {

constexpr int kWordTokens = kernels::kTile;  // whose text is shown of an entry

std::string memoryKey(std::uint64_t load, std::uint64_t id) {
  return "memory/" + std::to_string(load) + "/" + std::to_string(id);
}

std::string diskKey(const std::string& file) {
  return "disk/" + file;
}

Hash128 rootOf(const TextFileKey& key) {
  const std::string name = key.name();
  return hashOf(name.data(), name.size());
}

std::string fingerprintOf(const TextFileKey& key, std::span<const TokenId> text) {
  Hash128 hash = rootOf(key);
  for (std::size_t start = 0; start < text.size(); start += kPiece)
    hash = textHash(hash, text.subspan(start, std::min<std::size_t>(kPiece, text.size() - start)));
  return hexadecimal(hash);
}

std::string wordsOf(const Model& model, std::span<const TokenId> text) {
  return model.tokenizer().decode(text.first(std::min<std::size_t>(kWordTokens, text.size())));
}

// Finds the first pieces of texts by the hashes that their later pieces name.
class Beginnings {
 public:
  explicit Beginnings(std::span<const TextRowPtr> rows) {
    for (const TextRowPtr& row : rows) {
      if (row->kind == TextFileKind::kPages && row->tokens.size() == kPiece)
        whole_.emplace(textHash(row->parent, row->tokens), row);
    }
  }
  // The text's first tokens as far as they are listed; empty: they are not.
  std::span<const TokenId> of(const TextRowPtr& row) const {
    const TextRow* at = row.get();
    while (at->start > 0) {
      const auto before = whole_.find(at->parent);
      if (before == whole_.end() || before->second->start >= at->start) return {};
      at = before->second.get();
    }
    return at->tokens;
  }

 private:
  std::map<Hash128, TextRowPtr> whole_;
};

CachedText textOf(const DeskCache& now, const CacheEntry& entry) {
  return {.key = memoryKey(now.load, entry.id),
          .tier = entry.tier,
          .tokens = entry.tokens,
          .words = wordsOf(*now.model, entry.first),
          .fingerprint = hexadecimal(entry.text),
          .bytes = entry.bytes,
          .hits = entry.hits,
          .ageSeconds = entry.ageSeconds,
          .conversation = entry.conversation,
          .state = entry.pinned ? TextState::kPinned : TextState::kUsable};
}

CachedText textOf(const DeskCache& now, const TextRow& row, std::span<const TokenId> first) {
  const bool foreign = !now.model || row.model != now.key.name();
  return {.key = diskKey(row.file),
          .place = CachePlace::kDisk,
          .tier = row.kind == TextFileKind::kPages ? CacheTier::kPages : static_cast<CacheTier>(row.tier),
          .start = row.start,
          .tokens = row.end,
          .words = foreign ? std::string() : wordsOf(*now.model, first),
          .fingerprint = hexadecimal(textHash(row.parent, row.tokens)),
          .bytes = row.bytes,
          .hits = static_cast<std::uint64_t>(row.hits),
          .ageSeconds = static_cast<double>(std::max<std::int64_t>(0, nowUs() - row.usedUs)) / 1e6,
          .conversation = row.conversation,
          .state = foreign ? TextState::kForeign : TextState::kUsable};
}

}  // namespace

DeskCache CacheDesk::current() const {
  const std::lock_guard lock(mutex_);
  return cache_;
}

void CacheDesk::use(DeskCache cache) {
  {
    const std::lock_guard lock(mutex_);
    cache.load = cache_.load + 1;
    cache_ = std::move(cache);
    std::erase_if(proofs_, [](const auto& one) { return one.first.starts_with("memory/"); });
  }
  thread_.post([this] { apply(); });
}

void CacheDesk::set(const CacheSettings& settings) {
  {
    const std::lock_guard lock(mutex_);
    settings_ = settings;
  }
  thread_.post([this] { apply(); });
}

std::optional<CacheSettings> CacheDesk::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

void CacheDesk::apply() {
  const DeskCache now = current();
  const auto settings = this->settings();
  if (!settings || !now.cache) return;
  now.cache->setMarks(settings->grid, settings->endAnchor);
  const std::uint64_t free = Model::plan(now.model->file(), now.model->config()).available;
  now.cache->setBudget(cacheBudget(settings->memoryBudget, free == 0 ? 0 : free + now.cache->bytes()));
  if (DiskCache* disk = now.cache->disk()) {
    disk->setBudget(settings->diskBudget);
    disk->setEnabled(settings->disk);
  }
}

void CacheDesk::list(CacheListingSink sink) {
  thread_.post(
      [this, sink = std::move(sink)] { events_.post([sink, listing = listing()] { sink(listing); }); });
}

void CacheDesk::drop(std::string key) {
  thread_.post([this, key = std::move(key)] { dropNow(key); });
}

void CacheDesk::clearDisk() {
  thread_.post([this] {
    const DeskCache now = current();
    DiskCache* disk = now.cache ? now.cache->disk() : nullptr;
    removeTrouble_.clear();
    // One that is off keeps its list, and what is listed here is read from the folder.
    if (disk && disk->clear() && disk->enabled()) return;
    std::error_code error;
    if (folder_.path.empty() || !std::filesystem::exists(folder_.path, error)) return;
    TextFolder folder(folder_, false);
    const Status removed = folder.removeAll();
    if (!removed) removeTrouble_ = "The files cannot be removed: " + removed.error().message + ".";
  });
}

CacheListing CacheDesk::listing() {
  const DeskCache now = current();
  CacheListing listing;
  if (now.cache) addMemory(now, listing);
  if (!folder_.path.empty()) addDisk(now, listing);
  const std::lock_guard lock(mutex_);
  for (CachedText& text : listing.texts) {
    const auto known = proofs_.find(text.key);
    if (known == proofs_.end() || known->second.fingerprint != text.fingerprint) continue;
    text.proof = known->second.proof;
    text.state = TextState::kProven;
  }
  listing.texts.insert(listing.texts.end(), failed_.begin(), failed_.end());
  return listing;
}

void CacheDesk::addMemory(const DeskCache& now, CacheListing& listing) const {
  listing.memoryBytes = now.cache->bytes();
  listing.memoryBudget = now.cache->budget();
  for (const CacheEntry& entry : now.cache->entries(rootOf(now.key)))
    listing.texts.push_back(textOf(now, entry));
}

void CacheDesk::addDisk(const DeskCache& now, CacheListing& listing) {
  const auto settings = this->settings();
  DiskCache* disk = now.cache ? now.cache->disk() : nullptr;
  const bool inUse = disk && disk->enabled();
  const std::vector<TextRowPtr> rows = inUse ? disk->rows() : rowsInFolder();
  const Beginnings beginnings(rows);
  for (const TextRowPtr& row : rows) {
    listing.diskBytes += row->bytes;
    listing.texts.push_back(textOf(now, *row, beginnings.of(row)));
  }
  listing.diskBudget = settings ? settings->diskBudget : folder_.budget;
  listing.diskEnabled = settings ? settings->disk : true;
  listing.diskTrouble = inUse ? disk->trouble() : folderTrouble_.empty() ? removeTrouble_ : folderTrouble_;
  if (!disk) return;
  for (const UnusableText& file : disk->unusable()) {
    listing.texts.push_back({.key = "unusable/" + file.file,
                             .place = CachePlace::kDisk,
                             .bytes = file.bytes,
                             .state = TextState::kUnusable,
                             .reason = file.reason});
  }
}

// The files where no loaded model uses them.
std::vector<TextRowPtr> CacheDesk::rowsInFolder() {
  std::error_code error;
  const bool exists = std::filesystem::exists(folder_.path, error);
  folderTrouble_ = error ? "The files cannot be listed: " + error.message() + "." : std::string();
  if (!exists) return {};
  TextFolder folder(folder_, false);
  const Status opened = folder.open();
  folderTrouble_ = opened ? std::string() : "The files cannot be listed: " + opened.error().message + ".";
  return folder.catalogue().rows();
}

void CacheDesk::dropNow(const std::string& key) {
  const DeskCache now = current();
  {
    const std::lock_guard lock(mutex_);
    if (std::erase_if(failed_, [&](const CachedText& text) { return text.key == key; }) > 0) return;
  }
  if (key.starts_with("memory/") && now.cache) {
    for (const CacheEntry& entry : now.cache->entries()) {
      if (memoryKey(now.load, entry.id) == key) now.cache->drop(entry.id);
    }
    return;
  }
  if (!key.starts_with("disk/")) return;
  removeTrouble_.clear();
  const std::string file = key.substr(diskKey({}).size());
  DiskCache* disk = now.cache ? now.cache->disk() : nullptr;
  if (disk && disk->drop(file) && disk->enabled()) return;
  TextFolder folder(folder_, false);
  if (!folder.open()) return;
  for (const TextRowPtr& row : folder.catalogue().rows()) {
    if (row->file != file) continue;
    const Status removed = folder.remove({&row->id, 1});
    if (!removed) removeTrouble_ = "The file cannot be removed: " + removed.error().message + ".";
  }
}

Result<ProofSource> CacheDesk::find(const std::string& key, Decoder& decoder) const {
  const DeskCache now = current();
  const Error gone{ErrorCode::kNotFound, "This entry is no longer in the cache."};
  if (!now.cache) return gone;
  if (key.starts_with("memory/")) {
    for (const CacheEntry& entry : now.cache->entries()) {
      if (memoryKey(now.load, entry.id) != key) continue;
      CachedText text = textOf(now, entry);
      auto held = now.cache->held(entry.id);
      if (!held) return gone;
      text.tokens = static_cast<int>(held->tokens.size());  // it may have grown
      text.fingerprint = fingerprintOf(now.key, held->tokens);
      return ProofSource{TextProver::of(decoder, std::move(*held)), std::move(text), nullptr};
    }
    return gone;
  }
  if (!now.cache->disk()) return gone;
  const std::vector<TextRowPtr> rows = now.cache->disk()->rows();
  for (const TextRowPtr& row : rows) {
    if (diskKey(row->file) != key) continue;
    ProofSource source{std::nullopt, textOf(now, *row, Beginnings(rows).of(row)), row};
    auto file = TextFileReader::open(now.cache->disk()->pathOf(*row));
    auto prover = file ? TextProver::of(decoder, std::move(*file)) : Result<TextProver>(file.error());
    if (prover) {
      source.prover.emplace(std::move(*prover));
      return source;
    }
    if (prover.error().code != ErrorCode::kInvalidArgument) now.cache->disk()->refuse(*row, prover.error());
    return prover.error().code == ErrorCode::kNotFound ? gone : prover.error();
  }
  return gone;
}

void CacheDesk::proved(const ProofSource& source, const Result<TextProof>& proof) {
  const DeskCache now = current();
  DiskCache* disk = now.cache ? now.cache->disk() : nullptr;
  if (!proof) {
    if (source.row && proof.error().code == ErrorCode::kCorruptFile && disk)
      disk->refuse(*source.row, proof.error());
    return;
  }
  if (proof->differing > 0) {
    if (now.cache) now.cache->clear();
    if (now.responses) now.responses->clear();
    if (disk) disk->clear();
  }
  const std::lock_guard lock(mutex_);
  if (proof->differing == 0) {
    proofs_[source.text.key] = {source.text.fingerprint, *proof};
  } else {
    failed_.push_back(source.text);
    failed_.back().state = TextState::kProofFailed;
    failed_.back().proof = *proof;
  }
}

}  // namespace tandem::service
