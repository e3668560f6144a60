#include "engine/cache/text_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <unordered_map>

namespace tandem {
namespace fs = std::filesystem;
using kernels::kTile;

namespace {

constexpr std::string_view kSuffix = ".text";
constexpr std::size_t kModelDigits = 32, kNameDigits = kModelDigits + 1 + 16;

Error ioError(const char* what, int code) {
  return {
      ErrorCode::kIo, std::string(what) + ": " + std::strerror(code), {}, static_cast<std::uint64_t>(code)};
}

// "<model>-<16 random digits>.text"
std::string newName(const std::string& model) {
  std::random_device random;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%08x%08x", random(), random());
  return model + '-' + digits + std::string(kSuffix);
}

// Whether a name is one that newName gives, with this behind it.
bool isOurs(std::string_view name, std::string_view ending) {
  const std::string_view stem = name.substr(0, std::min(name.size(), kNameDigits));
  return stem.size() == kNameDigits && stem[kModelDigits] == '-' &&
         stem.find_first_not_of("0123456789abcdef-") == std::string_view::npos &&
         name.substr(kNameDigits) == std::string(kSuffix) + std::string(ending);
}

// Makes the folder and those above it, for their owner only.
int makeFolder(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return 0;
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    if (const int code = makeFolder(folder.parent_path())) return code;
  }
  return ::mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST ? 0 : errno;
}

bool nobodyWrites(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool free = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return free;
}

// Why the file of a row can't be used; empty: it can, as far as it was looked at.
std::string reasonAgainst(const std::string& path, const TextRow& row, bool whole) {
  const auto reader = TextFileReader::open(path);
  if (!reader) return reader.error().message;
  const TextFileHead& head = reader->head();
  if (head.key.arithmetic != kernels::kArithmeticVersion)
    return "it was computed by another version of the arithmetic";
  if (head.key.name() != row.model || head.kind != row.kind || head.start != row.start ||
      head.end != row.end ||
      !std::ranges::equal(row.tokens, std::span(head.tokens).subspan(static_cast<std::size_t>(head.start))))
    return "it is not the file that the index lists";
  std::vector<std::byte> block;
  for (int i = 0; whole && i < head.blocks(); ++i) {
    block.resize(head.sizeOf(i));
    if (const Status read = reader->readBlock(i, block); !read) return read.error().message;
  }
  return {};
}

}  // namespace

std::int64_t nowUs() {
  using namespace std::chrono;
  return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

// Shared by programs that write, so that none takes another's new file for a left-over; alone for a sweep.
class TextFolder::Lock {
 public:
  Lock(const std::string& folder, int kind)
      : descriptor_(::open((folder + "/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600)),
        held_(descriptor_ >= 0 && ::flock(descriptor_, kind) == 0),
        others_(descriptor_ >= 0 && !held_ && errno == EWOULDBLOCK) {}
  ~Lock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  bool held() const { return held_; }
  bool isOthers() const { return others_; }

 private:
  const int descriptor_;
  const bool held_;
  const bool others_;  // not so where the file system knows no locks
};

// The tokens of a text that one file of pages holds.
struct TextFolder::Piece {
  int start, end;
  std::span<const TokenId> tokens;
  Hash128 parent;
};

TextFolder::TextFolder(TextFolderOptions options, bool stateful)
    : options_(std::move(options)), catalogue_(stateful, options_.faults) {}
TextFolder::~TextFolder() = default;

Status TextFolder::open() {
  if (index_ && index_->isCurrent()) return {};
  index_.reset();
  catalogue_.reset({});
  if (const int code = makeFolder(options_.path)) return ioError("the folder cannot be made", code);
  auto index = options_.openIndex(options_.path);
  if (!index) return index.error();
  index_ = std::move(*index);
  return reload();
}

Status TextFolder::reload() {
  auto rows = index_->rows();
  if (!rows) {
    index_.reset();
    return rows.error();
  }
  catalogue_.reset(std::move(*rows));
  return {};
}

Status TextFolder::sweep(bool whole, std::vector<UnusableText>& unusable) {
  if (const Status opened = open(); !opened) return opened;
  const Lock lock(options_.path, LOCK_EX | LOCK_NB);
  if (lock.isOthers() && whole) {
    return Error{ErrorCode::kBusy,
                 "Another program writes to the cache, so nothing was checked; try again in a moment."};
  }
  if (lock.isOthers()) return {};
  if (!lock.held() && whole) return ioError("the folder cannot be locked", errno);
  if (!lock.held()) return {};
  if (const Status read = reload(); !read) return read;
  std::unordered_map<std::string, std::uint64_t> files;
  std::error_code error;
  for (fs::directory_iterator i(options_.path, error), end; !error && i != end; i.increment(error)) {
    const std::string name = i->path().filename().string();
    std::error_code ignored;
    if (isOurs(name, {})) files.emplace(name, i->file_size(ignored));
    if (isOurs(name, kTemporaryText) && nobodyWrites(i->path())) ops().remove(i->path().string());
  }
  std::vector<std::int64_t> gone;
  for (const TextRowPtr& row : catalogue_.rows()) {
    const bool there = files.erase(row->file) > 0;
    std::string reason = there ? reasonAgainst(pathOf(*row), *row, whole) : std::string();
    if (there && reason.empty()) continue;
    gone.push_back(row->id);
    if (there) unusable.push_back({row->file, std::move(reason), row->bytes});
  }
  for (const auto& [name, bytes] : files) {
    ops().remove(options_.path + "/" + name);
    unusable.push_back({name, "no index lists it: a program ended while it was being written", bytes});
  }
  return remove(gone);
}

Status TextFolder::keep(const TextFileKey& key, const KvLayout& layout, const KeptText& text,
                        const std::function<bool()>& pause) {
  if (const Status opened = open(); !opened) return opened;
  const Lock lock(options_.path, LOCK_SH | LOCK_NB);
  if (lock.isOthers()) return Error{ErrorCode::kBusy, "another program looks through the files"};
  if (const Status read = reload(); !read) return read;  // other programs write here too
  uses_.clear();
  Hash128 parent = catalogue_.root(key.name());
  const std::span<const TokenId> tokens(text.tokens);
  const int length = std::min(static_cast<int>(tokens.size()), kMostTokens);
  Status status;
  for (int start = 0; start < length && status; start += kPiece) {
    const int end = std::min(start + kPiece, length);
    const Piece piece{start, end, tokens.subspan(start, end - start), parent};
    status = keepPages(key, layout, text, piece, pause);
    for (const CacheMark& mark : text.marks) {
      if (status && mark.position > start && mark.position <= end)
        status = keepMark(key, mark, text, piece, pause);
    }
    parent = catalogue_.next(parent, piece.tokens);
  }
  const std::int64_t now = nowUs();  // one for all, so that of a text the end goes first
  for (TextUse& one : uses_)
    one.usedUs = now;
  const Status used = use(uses_);
  return status ? used : status;
}

Status TextFolder::keepPages(const TextFileKey& key, const KvLayout& layout, const KeptText& text,
                             const Piece& piece, const std::function<bool()>& pause) {
  if (const auto known = catalogue_.find(TextFileKind::kPages, piece.parent, piece.start, piece.tokens)) {
    uses_.push_back({known->id, text.conversation, nowUs(), false});
    return {};
  }
  TextFileHead head{.key = key, .start = piece.start, .end = piece.end, .conversation = text.conversation};
  head.tokens.assign(text.tokens.begin(), text.tokens.begin() + piece.end);
  std::vector<std::span<const std::byte>> blocks;
  std::vector<std::byte> last;
  for (int position = piece.start; position < piece.end; position += kTile) {
    const std::byte* page = text.pages[position / kTile].get();
    blocks.emplace_back(page, layout.pageBytes());
    if (piece.end - position >= kTile) continue;
    last = packedPage(layout, page, piece.end - position);
    blocks.back() = last;
  }
  if (Status status = write(head, piece.parent, blocks, pause); !status) return status;
  std::vector<std::int64_t> replaced;
  for (const TextRowPtr& row : catalogue_.shorter(piece.parent, piece.start, piece.tokens))
    replaced.push_back(row->id);
  return remove(replaced);
}

Status TextFolder::keepMark(const TextFileKey& key, const CacheMark& mark, const KeptText& text,
                            const Piece& piece, const std::function<bool()>& pause) {
  const auto own = piece.tokens.first(static_cast<std::size_t>(mark.position - piece.start));
  const auto known = catalogue_.find(TextFileKind::kMark, piece.parent, piece.start, own);
  if (known && (known->logits || !mark.logits)) {
    uses_.push_back({known->id, text.conversation, nowUs(), false});
    return {};
  }
  TextFileHead head{.key = key,
                    .kind = TextFileKind::kMark,
                    .tier = static_cast<std::uint32_t>(mark.tier),
                    .start = piece.start,
                    .end = mark.position,
                    .conversation = text.conversation,
                    .logits = mark.logits != nullptr};
  head.tokens.assign(text.tokens.begin(), text.tokens.begin() + mark.position);
  std::vector<std::byte> payload;
  payload.reserve(head.payloadBytes());
  const auto append = [&payload](std::span<const std::byte> bytes) {
    payload.insert(payload.end(), bytes.begin(), bytes.end());
  };
  append(mark.recurrent.bytes());
  append(std::as_bytes(std::span(mark.hidden)));
  if (mark.logits) append(std::as_bytes(std::span(*mark.logits)));
  std::vector<std::span<const std::byte>> blocks;
  for (std::size_t at = 0; at < payload.size(); at += head.blockBytes())
    blocks.push_back(std::span(payload).subspan(at, std::min(head.blockBytes(), payload.size() - at)));
  if (Status status = write(head, piece.parent, blocks, pause); !status || !known) return status;
  return remove({&known->id, 1});
}

// The file, then its row; where the row can't be written the file goes.
Status TextFolder::write(const TextFileHead& head, const Hash128& parent,
                         std::span<const std::span<const std::byte>> blocks,
                         const std::function<bool()>& pause) {
  const Result<bool> room = makeRoom(head.fileBytes());
  if (!room) return room.error();
  if (!*room) return {};  // larger than the budget
  TextRow row;
  row.model = head.key.name();
  row.file = newName(row.model);
  row.kind = head.kind;
  row.tier = head.tier;
  row.logits = head.logits;
  row.start = head.start;
  row.end = head.end;
  row.parent = parent;
  row.tokens.assign(head.tokens.begin() + head.start, head.tokens.end());
  row.bytes = head.fileBytes();
  row.conversation = head.conversation;
  row.usedUs = nowUs();
  if (Status status = writeTextFile(ops(), options_.path, row.file, head, blocks, pause); !status)
    return status;
  const Result<std::int64_t> id = index_->add(row);
  if (!id) {
    ops().remove(pathOf(row));
    index_.reset();
    return id.error();
  }
  row.id = *id;
  uses_.push_back({row.id, row.conversation, row.usedUs, false});
  catalogue_.add(std::move(row));
  return {};
}

// False: it does not fit into the budget at all. What the text uses that is being kept stays.
Result<bool> TextFolder::makeRoom(std::uint64_t bytes) {
  if (bytes > options_.budget) return false;
  const auto fits = [&] {
    std::error_code error;
    const fs::space_info space = fs::space(options_.path, error);
    const bool disk =
        !error && space.available >= options_.freeDisk && space.available - options_.freeDisk >= bytes;
    return std::pair(catalogue_.bytes() <= options_.budget - bytes, disk);
  };
  for (const TextRowPtr& row : catalogue_.rows()) {
    const auto [budget, disk] = fits();
    if (budget && disk) return true;
    if (std::ranges::find(uses_, row->id, &TextUse::id) != uses_.end()) continue;
    if (const Status removed = remove({&row->id, 1}); !removed) return removed.error();
  }
  const auto [budget, disk] = fits();
  if (!disk) return ioError("there is too little room", ENOSPC);
  return budget;
}

Status TextFolder::use(std::span<const TextUse> uses) {
  if (uses.empty()) return {};
  if (const Status opened = open(); !opened) return opened;
  if (Status status = index_->use(uses); !status) {
    index_.reset();
    return status;
  }
  for (const TextUse& use : uses)
    catalogue_.use(use);
  return {};
}

// The rows, then the files: what is cut short leaves files that no index lists.
Status TextFolder::remove(std::span<const std::int64_t> ids) {
  if (ids.empty()) return {};
  if (const Status opened = open(); !opened) return opened;
  std::vector<std::string> paths;
  for (const TextRowPtr& row : catalogue_.rows()) {
    if (std::ranges::find(ids, row->id) != ids.end()) paths.push_back(pathOf(*row));
  }
  if (Status status = index_->remove(ids); !status) {
    index_.reset();
    return status;
  }
  for (const std::int64_t id : ids)
    catalogue_.remove(id);
  for (const std::string& path : paths)
    ops().remove(path);
  return {};
}

Status TextFolder::removeAll() {
  if (const Status opened = open(); !opened) return opened;
  if (const Status read = reload(); !read) return read;
  std::vector<std::int64_t> ids;
  for (const TextRowPtr& row : catalogue_.rows())
    ids.push_back(row->id);
  return remove(ids);
}

Status TextFolder::setBudget(std::uint64_t bytes) {
  options_.budget = bytes;
  if (const Status opened = open(); !opened) return opened;
  if (const Status read = reload(); !read) return read;  // other programs write here too
  std::uint64_t left = catalogue_.bytes();
  std::vector<std::int64_t> ids;
  for (const TextRowPtr& row : catalogue_.rows()) {
    if (left <= bytes) break;
    left -= row->bytes;
    ids.push_back(row->id);
  }
  return remove(ids);
}

Status TextFolder::removeConversation(std::int64_t conversation) {
  if (const Status opened = open(); !opened) return opened;
  if (const Status read = reload(); !read) return read;
  std::vector<std::int64_t> ids;
  for (const TextRowPtr& row : catalogue_.rows()) {
    if (row->conversation == conversation) ids.push_back(row->id);
  }
  return remove(ids);
}

}  // namespace tandem
