#include "tests/conversation/fake_backend.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tandem::testing {

using Clock = std::chrono::steady_clock;
using namespace service;

namespace {

double msSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Bytes of the UTF-8 character that starts with `lead`; 1 for a byte that starts none.
std::size_t characterBytes(unsigned char lead) {
  if (lead >= 0xF0) return 4;
  if (lead >= 0xE0) return 3;
  if (lead >= 0xC0) return 2;
  return 1;
}

}  // namespace

struct FakeBackend::Job {
  GenerateRequest request;
  GenerationSink sink;
  std::string loadPath;  // not empty: a load
  LoadSink loadSink;
  bool cancelled = false;  // guarded by mutex_
  bool announced = false;  // has had its QueuedEvent; guarded by mutex_
  Clock::time_point submitted = Clock::now();
};

class FakeBackend::Handle : public RequestHandle {
 public:
  Handle(FakeBackend* backend, std::weak_ptr<Job> job) : backend_(backend), job_(std::move(job)) {}
  void cancel() override {
    const auto job = job_.lock();  // gone once the request has ended, and with it the backend's part
    if (!job) return;
    const std::lock_guard lock(backend_->mutex_);
    job->cancelled = true;
    backend_->wake_.notify_all();
  }

 private:
  FakeBackend* backend_;
  std::weak_ptr<Job> job_;
};

class FakeBackend::ProofHandle : public RequestHandle {
 public:
  ProofHandle(FakeBackend* backend, std::string key) : backend_(backend), key_(std::move(key)) {}
  void cancel() override {
    backend_->tellProof(key_, Error{ErrorCode::kCancelled, "The proof was stopped."});
  }

 private:
  FakeBackend* backend_;
  const std::string key_;
};

FakeBackend::FakeBackend() {
  ModelInfo info;
  info.path = "fake.gguf";
  info.name = "Fake 1B";
  info.architecture = "llama";
  info.quantization = "Q4_1";
  info.fingerprint = "00ff00ff00ff00ff";
  info.contextLength = 4096;
  info.vocabSize = 32000;
  info.hasChatTemplate = true;
  info.endTokens = {{kEndToken, "<end>"}};
  info.kernelSet = "scalar";
  info.threads = 1;
  model_ = info;
  setAnswer({});
  thread_ = std::thread([this] { work(); });
}

FakeBackend::~FakeBackend() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

void FakeBackend::setAnswer(FakeAnswer answer) {
  setScript([answer](const GenerateRequest&) { return answer; });
}

void FakeBackend::setScript(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

void FakeBackend::setModel(std::optional<ModelInfo> model) {
  const std::lock_guard lock(mutex_);
  model_ = std::move(model);
}

void FakeBackend::setLoadResult(std::optional<Error> error, int ms) {
  const std::lock_guard lock(mutex_);
  loadError_ = std::move(error);
  loadMs_ = ms;
}

std::vector<GenerateRequest> FakeBackend::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeBackend::setListing(CacheListing listing) {
  const std::lock_guard lock(mutex_);
  listing_ = std::move(listing);
}

int FakeBackend::listings() const {
  const std::lock_guard lock(mutex_);
  return listings_;
}

std::vector<std::string> FakeBackend::proofs() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> keys;
  for (const auto& [key, sink] : proofs_)
    keys.push_back(key);
  return keys;
}

void FakeBackend::tellProof(const std::string& key, ProofEvent event) {
  ProofSink sink;
  {
    const std::lock_guard lock(mutex_);
    const auto proof = proofs_.find(key);
    if (proof == proofs_.end()) return;
    sink = proof->second;
    if (!std::holds_alternative<ProofProgressEvent>(event)) proofs_.erase(proof);
  }
  sink(std::move(event));
}

std::optional<CacheSettings> FakeBackend::cacheSettings() const {
  const std::lock_guard lock(mutex_);
  return cacheSettings_;
}

void FakeBackend::listCaches(CacheListingSink sink) {
  CacheListing listing;
  {
    const std::lock_guard lock(mutex_);
    ++listings_;
    listing = listing_;
  }
  sink(std::move(listing));
}

std::shared_ptr<RequestHandle> FakeBackend::proveText(std::string key, ProofSink sink) {
  const std::lock_guard lock(mutex_);
  proofs_[key] = std::move(sink);
  return std::make_shared<ProofHandle>(this, std::move(key));
}

void FakeBackend::dropText(std::string key) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listing_.texts, [&](const CachedText& text) { return text.key == key; });
}

void FakeBackend::clearDiskCache() {
  const std::lock_guard lock(mutex_);
  std::erase_if(listing_.texts, [](const CachedText& text) { return text.place == CachePlace::kDisk; });
  listing_.diskBytes = 0;
}

void FakeBackend::setCaches(const CacheSettings& settings) {
  const std::lock_guard lock(mutex_);
  cacheSettings_ = settings;
}

int FakeBackend::promptTokens(const GenerateRequest& request) {
  std::size_t tokens = (request.rawPrompt.size() + 3) / 4;
  for (const PromptMessage& message : request.messages)
    tokens += (message.content.size() + 3) / 4 + 4;
  return static_cast<int>(tokens);
}

std::vector<PieceToken> FakeBackend::tokenize(const std::string& text) {
  std::vector<PieceToken> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t first = characterBytes(static_cast<unsigned char>(text[at]));
    std::size_t end = std::min(at + first, text.size());
    if (first == 4) tokens.push_back({static_cast<TokenId>(1000 + at % 20000), TokenOrigin::kPlain, 0});
    while (first == 1 && end < text.size() && end - at < 5 && text[end] != ' ' &&
           characterBytes(static_cast<unsigned char>(text[end])) == 1) {
      ++end;
    }
    tokens.push_back(
        {static_cast<TokenId>(1001 + at % 20000), TokenOrigin::kPlain, static_cast<std::uint32_t>(end - at)});
    at = end;
  }
  return tokens;
}

void FakeBackend::loadModel(std::string path, LoadOptions, LoadSink sink) {
  auto job = std::make_shared<Job>();
  job->loadPath = std::move(path);
  job->loadSink = std::move(sink);
  std::vector<std::shared_ptr<Job>> dropped;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = queue_.begin(); it != queue_.end();) {
      if ((*it)->loadPath.empty()) {
        ++it;
      } else {
        dropped.push_back(*it);
        it = queue_.erase(it);
      }
    }
    if (current_ && !current_->loadPath.empty()) current_->cancelled = true;
    queue_.push_back(std::move(job));
    wake_.notify_all();
  }
  for (const auto& old : dropped)
    old->loadSink(Error{ErrorCode::kCancelled, "Another model was chosen."});
}

std::optional<ModelInfo> FakeBackend::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

std::shared_ptr<RequestHandle> FakeBackend::submit(GenerateRequest request, GenerationSink sink) {
  auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->sink = std::move(sink);
  const std::lock_guard lock(mutex_);
  requests_.push_back(job->request);
  queue_.push_back(job);
  wake_.notify_all();
  return std::make_shared<Handle>(this, job);
}

void FakeBackend::countTokens(GenerateRequest request, std::function<void(Result<int>)> sink) {
  std::optional<Count> older;
  {
    const std::lock_guard lock(mutex_);
    older = std::exchange(count_, Count{std::move(request), std::move(sink)});
    wake_.notify_all();
  }
  if (older) older->sink(Error{ErrorCode::kCancelled, "A newer count was asked for."});
}

void FakeBackend::serveWaiting(std::unique_lock<std::mutex>& lock) {
  if (count_) {
    const Count count = std::move(*std::exchange(count_, std::nullopt));
    const bool ready = model_.has_value();
    lock.unlock();
    if (ready) {
      count.sink(promptTokens(count.request));
    } else {
      count.sink(Error{ErrorCode::kNotFound, "No model is loaded. Choose one first."});
    }
    lock.lock();
  }
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const std::shared_ptr<Job> job = queue_[i];
    if (!job->loadPath.empty()) continue;
    const bool announce = !std::exchange(job->announced, true);
    const bool cancelled = job->cancelled;
    const int ahead = static_cast<int>(i) + (current_ ? 1 : 0);
    if (cancelled) queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i--));
    if (!announce && !cancelled) continue;
    GenerationStats stats;
    stats.finish = FinishReason::kCancelled;
    stats.queueMs = stats.totalMs = msSince(job->submitted);
    lock.unlock();
    if (announce) job->sink(QueuedEvent{ahead});
    if (cancelled) job->sink(FinishedEvent{stats});
    lock.lock();
  }
}

bool FakeBackend::pause(Job& job, Clock::time_point when) {
  std::unique_lock lock(mutex_);
  for (;;) {
    serveWaiting(lock);
    if (job.cancelled || closing_) return false;
    if (Clock::now() >= when) return true;
    wake_.wait_until(lock, when);
  }
}

void FakeBackend::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return closing_ || !queue_.empty() || count_; });
    serveWaiting(lock);
    if (queue_.empty()) {
      if (closing_) return;
      continue;
    }
    current_ = std::move(queue_.front());
    queue_.pop_front();
    const auto job = current_;
    lock.unlock();
    if (job->loadPath.empty()) {
      runRequest(*job);
    } else {
      runLoad(*job);
    }
    lock.lock();
    current_.reset();
  }
}

void FakeBackend::runLoad(Job& job) {
  std::optional<Error> error;
  int ms = 0;
  {
    const std::lock_guard lock(mutex_);
    error = loadError_;
    ms = loadMs_;
  }
  for (int step = 1; step <= 10; ++step) {
    if (!pause(job, Clock::now() + std::chrono::microseconds(ms * 100))) {
      job.loadSink(Error{ErrorCode::kCancelled, "Another model was chosen."});
      return;
    }
    job.loadSink(LoadProgressEvent{step / 10.0});
  }
  if (error) {
    job.loadSink(*error);
    return;
  }
  ModelInfo info;
  {
    const std::lock_guard lock(mutex_);
    if (model_) info = *model_;
    info.path = job.loadPath;
    info.name = job.loadPath.substr(job.loadPath.find_last_of('/') + 1);
    model_ = info;
  }
  job.loadSink(info);
}

void FakeBackend::runRequest(Job& job) {
  std::optional<ModelInfo> info;
  Script script;
  {
    const std::lock_guard lock(mutex_);
    info = model_;
    script = script_;
  }
  const FakeAnswer answer = script(job.request);
  GenerationStats stats;
  stats.seed = job.request.sampling.seed;
  stats.queueMs = msSince(job.submitted);
  const auto fail = [&](Error error) {
    stats.finish = FinishReason::kFailed;
    stats.totalMs = msSince(job.submitted);
    job.sink(FailedEvent{std::move(error), stats, answer.chosen});
  };

  if (!info) return fail({ErrorCode::kNotFound, "No model is loaded. Choose one first."});
  stats.promptTokens = promptTokens(job.request);
  const int needed = stats.promptTokens + static_cast<int>(job.request.answerSoFar.size());
  if (needed >= info->contextLength) {
    return fail({ErrorCode::kContextLengthExceeded,
                 "The conversation needs " + std::to_string(needed) +
                     " tokens, but this model's context holds " + std::to_string(info->contextLength) +
                     ". Shorten the message or start a new conversation."});
  }

  const auto prefillStart = Clock::now();
  for (int step = 1; step <= 10; ++step) {
    if (!pause(job, prefillStart + std::chrono::microseconds(answer.prefillMs * 100 * step))) {
      stats.finish = FinishReason::kCancelled;
      stats.totalMs = msSince(job.submitted);
      job.sink(FinishedEvent{stats});
      return;
    }
    job.sink(PrefillEvent{stats.promptTokens * step / 10, stats.promptTokens});
  }
  stats.prefillMs = msSince(prefillStart);

  stats.finish = stream(job, answer, stats);
  stats.totalMs = msSince(job.submitted);
  stats.logitsFingerprint = 0x1234;
  if (stats.finish == FinishReason::kFailed) return fail(*answer.fail);
  job.sink(FinishedEvent{stats, {}, {}, answer.chosen});
}

FinishReason FakeBackend::stream(Job& job, const FakeAnswer& answer, GenerationStats& stats) {
  const std::vector<PieceToken> script = tokenize(answer.text);
  const int limit = job.request.maxTokens > 0 ? job.request.maxTokens : 1 << 30;
  const int piece = std::max(1, answer.tokensPerPiece);
  std::size_t next = job.request.answerSoFar.size();  // index of the next token in the answer
  std::size_t offset = 0;                             // byte of answer.text it starts at
  for (std::size_t i = 0; i < next && !script.empty(); ++i)
    offset += script[i % script.size()].textBytes;
  const auto start = Clock::now();

  for (;;) {
    TextPiece out;
    FinishReason reason = FinishReason::kCancelled;
    bool ended = false;
    for (int i = 0; i < piece && !ended; ++i) {
      const int made = stats.completionTokens;
      if (answer.fail && made >= answer.failAfterTokens) {
        reason = FinishReason::kFailed;
        ended = true;
      } else if (made >= limit) {
        reason = FinishReason::kLength;
        ended = true;
      } else if (script.empty() || (!answer.endless && next >= script.size())) {
        out.tokens.push_back({kEndToken, TokenOrigin::kPlain, 0});
        ++stats.completionTokens;
        ++stats.acceptedBy[0];
        reason = FinishReason::kEndToken;
        ended = true;
      } else {
        PieceToken token = script[next % script.size()];
        if (i > 0) token.origin = TokenOrigin::kOwnText;
        out.text += answer.text.substr(offset % answer.text.size(), token.textBytes);
        offset += token.textBytes;
        out.tokens.push_back(token);
        ++next;
        ++stats.completionTokens;
        ++stats.acceptedBy[static_cast<int>(token.origin)];
      }
    }
    ++stats.rounds;
    stats.drafted += piece - 1;
    stats.accepted = stats.acceptedBy[static_cast<int>(TokenOrigin::kOwnText)];
    if (stats.ttftMs == 0) stats.ttftMs = msSince(job.submitted);
    stats.decodeMs = msSince(start);
    if (!out.tokens.empty()) job.sink(PieceEvent{std::move(out)});
    if (ended) return reason;
    const double due = answer.tokensPerSecond > 0 ? stats.completionTokens / answer.tokensPerSecond : 0;
    if (!pause(job,
               start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(due)))) {
      return FinishReason::kCancelled;
    }
  }
}

}  // namespace tandem::testing
