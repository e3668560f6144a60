#include "engine/cache/disk_cache.h"

#include <sys/resource.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <new>
#include <system_error>

namespace tandem {

using kernels::kTile;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds kStep{50};  // between two mebibytes while a request runs
constexpr std::size_t kUnusableKept = 100;

std::string sentenceFor(int code) {
  const std::string rest = " Texts are remembered until the program ends, and read anew at its next start.";
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return "The disk is too full to keep what was read." + rest;
    case EACCES:
    case EPERM:
    case EROFS:
      return "The folder for what was read cannot be written." + rest;
    default:
      return "What was read cannot be kept on the disk, which may be failing." + rest;
  }
}

bool isBeginning(std::span<const TokenId> part, std::span<const TokenId> text) {
  return part.size() <= text.size() && std::ranges::equal(part, text.first(part.size()));
}

}  // namespace

DiskCache::DiskCache(DiskCacheOptions options, const std::string& fingerprint, Sequence empty, int vocabulary)
    : options_(std::move(options)),
      empty_(std::move(empty)),
      key_(TextFileKey::of(fingerprint, empty_, vocabulary)),
      stateful_(empty_.recurrent.layout().layers > 0 || !empty_.hidden.empty()),
      folder_(options_.folder, stateful_),
      budget_(options_.folder.budget),
      enabled_(options_.enabled) {
  if (enabled_) told(folder_.open());
  thread_ = std::thread([this] { run(); });
}

DiskCache::~DiskCache() {
  close();
}

void DiskCache::enter() {
  const std::lock_guard lock(mutex_);
  ++users_;
}

void DiskCache::leave() {
  const std::lock_guard lock(mutex_);
  if (--users_ == 0) wake_.notify_all();
}

void DiskCache::keep(std::span<const TokenId> text, const Sequence& sequence,
                     std::span<const CacheMark> marks, std::int64_t conversation, std::uint64_t room) {
  KeptText kept;
  kept.conversation = conversation;
  std::size_t length = text.size();
  if (stateful_) {
    kept.marks.assign(marks.begin(), marks.end());
    length = 0;  // what is behind the last state is of no use
    for (const CacheMark& mark : marks)
      length = std::max(length, static_cast<std::size_t>(mark.position));
  }
  if (static_cast<int>(length) < options_.leastGain) return;
  kept.tokens.assign(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
  const auto pages = sequence.kv.pages().first((length + kTile - 1) / kTile);
  kept.pages.assign(pages.begin(), pages.end());

  const std::lock_guard lock(mutex_);
  if (closing_ || !enabled_) return;
  keptAt_ = Clock::now();
  if (texts_.empty()) waitingSince_ = keptAt_;
  // A text that goes on takes the place of its beginning.
  std::erase_if(texts_, [&](KeptText& earlier) {
    if (!isBeginning(earlier.tokens, kept.tokens)) return false;
    std::ranges::move(earlier.marks, std::back_inserter(kept.marks));
    return true;
  });
  texts_.push_back(std::move(kept));
  room = std::min(room, options_.waiting);
  const auto bytesOf = [&](const KeptText& one) {
    std::uint64_t bytes = one.pages.size() * empty_.kv.layout().pageBytes();
    for (const CacheMark& mark : one.marks)
      bytes += mark.bytes();
    return bytes;
  };
  std::uint64_t bytes = 0;
  for (const KeptText& one : texts_)
    bytes += bytesOf(one);
  for (; bytes > room && texts_.size() > 1; texts_.pop_front())
    bytes -= bytesOf(texts_.front());
  wake_.notify_all();
}

bool DiskCache::dropConversation(std::int64_t conversation) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  std::erase_if(texts_, [&](const KeptText& text) { return text.conversation == conversation; });
  conversations_.push_back(conversation);
  wake_.notify_all();
  return true;
}

bool DiskCache::drop(const std::string& file) {
  const std::vector<TextRowPtr> all = rows();
  const auto row = std::ranges::find(all, file, [](const TextRowPtr& one) { return one->file; });
  if (row == all.end()) return false;
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  unwanted_.insert((*row)->id);
  wake_.notify_all();
  return true;
}

bool DiskCache::clear() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  texts_.clear();
  clearing_ = true;
  wake_.notify_all();
  return true;
}

void DiskCache::setBudget(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == budget_) return;
  budget_ = bytes;
  newBudget_ = true;
  wake_.notify_all();
}

std::uint64_t DiskCache::budget() const {
  const std::lock_guard lock(mutex_);
  return budget_;
}

void DiskCache::setEnabled(bool on) {
  const std::lock_guard lock(mutex_);
  enabled_ = on;
  if (!on) texts_.clear();
  wake_.notify_all();
}

bool DiskCache::enabled() const {
  const std::lock_guard lock(mutex_);
  return enabled_;
}

std::vector<TextRowPtr> DiskCache::rows() const {
  std::vector<TextRowPtr> rows = folder_.catalogue().rows();
  const std::lock_guard lock(mutex_);
  std::erase_if(rows, [&](const TextRowPtr& row) { return clearing_ || unwanted_.contains(row->id); });
  return rows;
}

void DiskCache::flush() {
  std::unique_lock lock(mutex_);
  flushing_ = true;
  wake_.notify_all();
  idle_.wait(lock, [&] { return closing_ || (!working_ && texts_.empty() && !hasSmallWork()); });
  flushing_ = false;
}

void DiskCache::close() {
  {
    const std::lock_guard lock(mutex_);
    if (!closing_) deadline_ = Clock::now() + options_.closeTime;
    closing_ = true;
    wake_.notify_all();
    idle_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::vector<UnusableText> DiskCache::unusable() const {
  const std::lock_guard lock(mutex_);
  return unusable_;
}

std::string DiskCache::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

// The thread that writes.
void DiskCache::run() {
  ::setpriority(PRIO_PROCESS, 0, 19);  // of this thread alone
  std::unique_lock lock(mutex_);
  for (;;) {
    if (enabled_ && !swept_) sweep(lock);
    const bool small = hasSmallWork();
    const auto now = Clock::now();
    const auto due =
        std::max(std::min(keptAt_ + options_.settle, waitingSince_ + options_.longest), nextTry_);
    const bool hurry = closing_ || flushing_;
    if ((small && (hurry || now >= nextTry_)) || (!texts_.empty() && (hurry || now >= due))) {
      working_ = true;
      work(lock);
    } else if (closing_) {
      closed_ = true;
      return;
    } else {
      working_ = false;
      idle_.notify_all();
      if (small || !texts_.empty()) {
        wake_.wait_until(lock, small ? nextTry_ : due);
      } else {
        wake_.wait(lock);
      }
    }
  }
}

// When the tier is used first.
void DiskCache::sweep(std::unique_lock<std::mutex>& lock) {
  swept_ = true;
  if (!trouble_.empty()) return;
  lock.unlock();
  std::vector<UnusableText> found;
  told(folder_.sweep(false, found));
  lock.lock();
  for (UnusableText& file : found)
    list(std::move(file));
}

bool DiskCache::hasSmallWork() const {
  return !uses_.empty() || !unwanted_.empty() || !conversations_.empty() || clearing_ ||
         (newBudget_ && enabled_);
}

// One round of what is to be done; of several failures the first is told. What fails of the small things is
// forgotten: the files stay, and are found bad or unused again. To clear all, to remove a deleted
// conversation and to write what another program's sweep holds up is tried again.
void DiskCache::work(std::unique_lock<std::mutex>& lock) {
  const std::vector<TextUse> uses = std::exchange(uses_, {});
  const std::vector<std::int64_t> unwanted(unwanted_.begin(), unwanted_.end());
  const std::vector<std::int64_t> conversations = std::exchange(conversations_, {});
  const bool clearing = clearing_;
  const std::optional<std::uint64_t> budget =
      enabled_ && std::exchange(newBudget_, false) ? std::optional(budget_) : std::nullopt;
  std::optional<KeptText> text;
  if (!texts_.empty() && !clearing) {
    text = std::move(texts_.front());
    texts_.pop_front();
  }
  lock.unlock();
  Status status = clearing ? folder_.removeAll() : folder_.remove(unwanted);
  const bool removed = status.ok();
  const auto also = [&status](const Status& next) {
    if (status) status = next;
    return next.ok();
  };
  std::vector<std::int64_t> left;
  for (const std::int64_t conversation : conversations) {
    if (!also(folder_.removeConversation(conversation))) left.push_back(conversation);
  }
  if (budget) also(folder_.setBudget(*budget));
  also(folder_.use(uses));
  if (text) {
    const Status kept = write(*text);
    const bool busy = !kept && kept.error().code == ErrorCode::kBusy;
    if (!busy) also(kept);
    if (!busy || !waits()) text.reset();
  }
  if (!text || !status) told(status);
  lock.lock();
  // Unless it was let go meanwhile, it is tried again.
  if (text && !clearing_ && enabled_ &&
      std::ranges::find(conversations_, text->conversation) == conversations_.end())
    texts_.push_front(std::move(*text));
  if (!closing_ && !flushing_) conversations_.insert(conversations_.end(), left.begin(), left.end());
  for (const std::int64_t id : unwanted)
    unwanted_.erase(id);
  if (clearing && (removed || closing_ || flushing_)) clearing_ = false;
}

// Without the memory for it a text is not kept.
Status DiskCache::write(const KeptText& text) {
  try {
    return folder_.keep(key_, empty_.kv.layout(), text, [this] { return pause(); });
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kCancelled, "there is too little free memory to write a text"};
  }
}

// Before a text is tried again that another program's sweep holds up. False: there is no time for that.
bool DiskCache::waits() {
  std::this_thread::sleep_for(kStep);
  return pause();
}

// Between two parts of a file: while a request runs it gets the machine.
bool DiskCache::pause() {
  std::unique_lock lock(mutex_);
  if (!closing_ && !flushing_)
    wake_.wait_for(lock, kStep, [&] { return users_ == 0 || closing_ || flushing_ || clearing_; });
  return !clearing_ && enabled_ && (!closing_ || Clock::now() < deadline_);
}

// Tells trouble once, and its end.
void DiskCache::told(const Status& status) {
  std::string sentence;
  if (!status && status.error().code == ErrorCode::kCancelled) return;
  if (!status) sentence = sentenceFor(static_cast<int>(status.error().offset.value_or(0)));
  {
    const std::lock_guard lock(mutex_);
    nextTry_ = status ? Clock::time_point() : Clock::now() + options_.retry;
    if (!status) texts_.clear();
    if (sentence == trouble_) return;
    trouble_ = sentence;
  }
  if (options_.onTrouble) options_.onTrouble(sentence);
}

bool DiskCache::restore(PrefixCache& cache, std::span<const TokenId> text, const CacheHit& known,
                        std::int64_t conversation) {
  std::set<std::int64_t> without;
  {
    const std::lock_guard lock(mutex_);
    if (closing_ || clearing_ || !enabled_ || known.logits) return false;
    without = unwanted_;
  }
  for (;;) {
    const TextPlan plan = folder_.catalogue().plan(key_.name(), text, without);
    const bool whole = plan.mark && plan.length == static_cast<int>(text.size());
    const int usable = whole ? plan.length : std::min<int>(plan.length, static_cast<int>(text.size()) - 1);
    if (usable - known.sequence.length() < (whole ? 1 : options_.leastGain)) return false;
    const std::size_t pages = static_cast<std::size_t>(plan.length + kTile - 1) / kTile;
    if (pages * empty_.kv.layout().pageBytes() > cache.budget()) return false;  // it would not stay
    Sequence sequence = empty_;
    TextRowPtr culprit;
    std::vector<CacheMark> marks;
    Status status = load(plan, text, known, sequence, culprit);
    if (status && plan.mark) {
      auto mark = readMark(*plan.mark, text);
      if (mark) {
        marks.push_back(std::move(*mark));
      } else {
        status = mark.error();
        culprit = plan.mark;
      }
    }
    if (!status) {
      if (!culprit) return false;  // no memory
      without.insert(culprit->id);
      if (status.error().code != ErrorCode::kInvalidArgument) refuse(*culprit, status.error());
      continue;
    }
    cache.insert(text.first(static_cast<std::size_t>(plan.length)), sequence, marks, conversation);
    const std::lock_guard lock(mutex_);
    const std::int64_t now = nowUs();
    for (const TextRowPtr& piece : plan.pieces)
      uses_.push_back({piece->id, conversation, now, true});
    if (plan.mark) uses_.push_back({plan.mark->id, conversation, now, true});
    return true;
  }
}

void DiskCache::refuse(const TextRow& row, const Error& why) {
  const std::lock_guard lock(mutex_);
  unwanted_.insert(row.id);
  if (why.code != ErrorCode::kNotFound) list({row.file, why.message, row.bytes});
  wake_.notify_all();
}

void DiskCache::list(UnusableText file) {
  if (std::ranges::find(unusable_, file.file, &UnusableText::file) != unusable_.end()) return;
  if (unusable_.size() == kUnusableKept) unusable_.erase(unusable_.begin());
  unusable_.push_back(std::move(file));
}

// A page to be filled, from a block of one of the files.
struct DiskCache::Read {
  const TextFileReader* reader;
  TextRowPtr row;
  int block;
  std::byte* page;
};

Status DiskCache::load(const TextPlan& plan, std::span<const TokenId> text, const CacheHit& known,
                       Sequence& sequence, TextRowPtr& culprit) const {
  const KvLayout& layout = empty_.kv.layout();
  std::vector<KvSequence::Page> pages(static_cast<std::size_t>(plan.length + kTile - 1) / kTile);
  const std::size_t full = static_cast<std::size_t>(std::min(known.sequence.length(), plan.length) / kTile);
  std::copy_n(known.sequence.kv.pages().begin(), full, pages.begin());
  std::deque<TextFileReader> readers;
  std::vector<Read> reads;
  for (std::size_t i = full; i < pages.size(); ++i) {
    const TextRowPtr& row = plan.pieces[i / kPiecePages];
    if (reads.empty() || i % kPiecePages == 0) {
      auto reader = openFor(*row, text);
      if (!reader) {
        culprit = row;
        return reader.error();
      }
      readers.push_back(std::move(*reader));
    }
    pages[i] = KvSequence::Page(new (std::nothrow) std::byte[layout.pageBytes()]);
    if (!pages[i]) return Error{ErrorCode::kOutOfMemory, "there is not enough memory for an earlier text"};
    reads.push_back({&readers.back(), row, static_cast<int>(i % kPiecePages), pages[i].get()});
  }
  if (const Status read = readPages(reads, culprit); !read) return read;
  sequence.kv = KvSequence(layout, std::move(pages), plan.length);
  return {};
}

// Reads and checks, on a few threads.
Status DiskCache::readPages(std::span<const Read> reads, TextRowPtr& culprit) const {
  const KvLayout& layout = empty_.kv.layout();
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;  // guards status and culprit
  Status status;
  const auto stop = [&](const Status& why, const TextRowPtr& row) {
    const std::lock_guard lock(mutex);
    status = why;
    culprit = row;
    next = reads.size();
  };
  const auto fill = [&] {
    for (std::size_t i = next++; i < reads.size(); i = next++) {
      const Read& read = reads[i];
      const std::size_t size = read.reader->head().sizeOf(read.block);
      std::vector<std::byte> packed(size < layout.pageBytes() ? size : 0);
      const std::span<std::byte> out =
          packed.empty() ? std::span(read.page, layout.pageBytes()) : std::span(packed);
      const Status one = read.reader->readBlock(read.block, out, !options_.folder.faults.skipChecksum);
      if (one && !packed.empty())
        unpackPage(layout, packed, static_cast<int>(size / layout.tokenBytes()), read.page);
      if (!one) stop(one, read.row);
    }
  };
  const auto fillOrStop = [&] {
    try {
      fill();
    } catch (const std::bad_alloc&) {
      stop(Error{ErrorCode::kOutOfMemory, "there is not enough memory for an earlier text"}, nullptr);
    }
  };
  std::vector<std::thread> threads;
  const std::size_t most = std::min<std::size_t>(std::thread::hardware_concurrency(), 4);
  try {
    while (threads.size() + 1 < most && (threads.size() + 1) * 4 < reads.size())
      threads.emplace_back(fillOrStop);
  } catch (const std::exception&) {  // the system gives no more threads
  }
  fillOrStop();
  for (std::thread& thread : threads)
    thread.join();
  return status;
}

Result<CacheMark> DiskCache::readMark(const TextRow& row, std::span<const TokenId> text) const {
  const auto reader = openFor(row, text);
  if (!reader) return reader.error();
  const TextFileHead& head = reader->head();
  std::vector<std::byte> payload(head.payloadBytes());
  for (int i = 0; i < head.blocks(); ++i) {
    const auto block =
        std::span(payload).subspan(static_cast<std::size_t>(i) * head.blockBytes(), head.sizeOf(i));
    if (const Status read = reader->readBlock(i, block, !options_.folder.faults.skipChecksum); !read)
      return read.error();
  }
  CacheMark mark{static_cast<CacheTier>(head.tier), head.end, empty_.recurrent, empty_.hidden, {}};
  const std::size_t state = empty_.recurrent.bytes().size(), hidden = empty_.hidden.size() * sizeof(float);
  if (const Status restored = mark.recurrent.restore(std::span(payload).first(state)); !restored)
    return restored.error();
  std::memcpy(mark.hidden.data(), payload.data() + state, hidden);
  if (head.logits) {
    std::vector<float> logits(key_.vocabulary);
    std::memcpy(logits.data(), payload.data() + state + hidden, logits.size() * sizeof(float));
    mark.logits = std::make_shared<const std::vector<float>>(std::move(logits));
  }
  return mark;
}

// The file of a row, when it is what the row says and its text is this one. Error kInvalidArgument: the file
// is sound, but of another text.
Result<TextFileReader> DiskCache::openFor(const TextRow& row, std::span<const TokenId> text) const {
  auto reader = TextFileReader::open(folder_.pathOf(row));
  if (!reader) return reader;
  const TextFileHead& head = reader->head();
  if (std::string reason = reader->foreign(key_); !reason.empty())
    return Error{ErrorCode::kUnsupported, std::move(reason)};
  if (head.kind != row.kind || head.start != row.start || head.end != row.end ||
      !std::ranges::equal(row.tokens, std::span(head.tokens).subspan(static_cast<std::size_t>(head.start))))
    return Error{ErrorCode::kCorruptFile, "it is not the file that the index lists"};
  const auto before = std::span(head.tokens).first(static_cast<std::size_t>(head.start));
  if (!options_.folder.faults.trustHash && !isBeginning(before, text))
    return Error{ErrorCode::kInvalidArgument, "it is of another text"};
  return reader;
}

}  // namespace tandem
