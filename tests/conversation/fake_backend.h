// A backend without an engine: answers with scripted text at a chosen rate from its own thread, with every
// event the real one sends. Tests of the conversation service, the window and the terminal chat put it where
// the engine would be.
//
// Its "tokens" are short runs of the script's text, so the same script always gives the same tokens: an
// answer that was stopped and goes on with `answerSoFar` continues where it stood. Calls may come from any
// thread; events come from the one worker thread, requests one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/service/engine_backend.h"

namespace tandem::testing {

// How one request is answered.
struct FakeAnswer {
  std::string text = "Canberra is the capital of Australia.";
  double tokensPerSecond = 0;  // 0: as fast as the thread can
  int tokensPerPiece = 1;      // tokens of one round; from two on, all but the first are own-text tokens
  int prefillMs = 0;           // spent in ten steps with a PrefillEvent each
  bool endless = false;        // repeats `text` until cancelled or maxTokens
  std::optional<Error> fail;   // Failed with this instead of Finished …
  int failAfterTokens = 0;     // … after so many tokens of this request
  std::optional<service::ChosenSampling> chosen = {};  // told with the end
};

class FakeBackend : public service::EngineBackend {
 public:
  using Script = std::function<FakeAnswer(const service::GenerateRequest&)>;

  // Starts with a model called "Fake 1B" that has a chat template and a context of 4096 tokens.
  FakeBackend();
  ~FakeBackend() override;  // cancels what runs and waits

  void setAnswer(FakeAnswer answer);  // of every request from now on
  void setScript(Script script);      // the same, decided by the request
  void setModel(std::optional<service::ModelInfo> model);
  // What loadModel() answers; by default the model is renamed after the path. Takes `ms`, in ten steps.
  void setLoadResult(std::optional<Error> error, int ms);

  std::vector<service::GenerateRequest> requests() const;  // all that were submitted, in order
  // The count countTokens() gives and the context is checked with: one token per four bytes of content, and
  // four per message.
  static int promptTokens(const service::GenerateRequest& request);
  // The tokens `text` is made of. A four-byte character is two tokens, the first of which completes no text.
  static std::vector<PieceToken> tokenize(const std::string& text);
  static constexpr TokenId kEndToken = 1;

  // What listCaches() tells, at once; a dropped text is no longer in it.
  void setListing(service::CacheListing listing);
  int listings() const;  // times it was asked for
  // The proofs that were asked for and have not ended, by their texts' keys.
  std::vector<std::string> proofs() const;
  void tellProof(const std::string& key, service::ProofEvent event);
  std::optional<service::CacheSettings> cacheSettings() const;  // as they were set last

  void listCaches(service::CacheListingSink sink) override;
  // Cancelled, it ends at once.
  std::shared_ptr<service::RequestHandle> proveText(std::string key, service::ProofSink sink) override;
  void dropText(std::string key) override;
  void clearDiskCache() override;
  void setCaches(const service::CacheSettings& settings) override;

  void loadModel(std::string path, service::LoadOptions options, service::LoadSink sink) override;
  std::optional<service::ModelInfo> model() const override;
  std::shared_ptr<service::RequestHandle> submit(service::GenerateRequest request,
                                                 service::GenerationSink sink) override;
  void countTokens(service::GenerateRequest request, std::function<void(Result<int>)> sink) override;

 private:
  struct Job;
  class Handle;
  class ProofHandle;
  struct Count {
    service::GenerateRequest request;
    std::function<void(Result<int>)> sink;
  };

  void work();
  void runLoad(Job& job);
  void runRequest(Job& job);
  // Sends the tokens of the answer; returns how it ended, with the figures in `stats`.
  FinishReason stream(Job& job, const FakeAnswer& answer, GenerationStats& stats);
  // Waits until `when`; false: cancelled.
  bool pause(Job& job, std::chrono::steady_clock::time_point when);
  // What a busy worker does between two tokens: answers a count, tells waiting requests their place, ends the
  // cancelled ones.
  void serveWaiting(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> queue_;
  std::shared_ptr<Job> current_;
  std::optional<Count> count_;
  std::optional<service::ModelInfo> model_;
  std::optional<Error> loadError_;
  int loadMs_ = 0;
  Script script_;
  std::vector<service::GenerateRequest> requests_;
  service::CacheListing listing_;
  int listings_ = 0;
  std::map<std::string, service::ProofSink> proofs_;
  std::optional<service::CacheSettings> cacheSettings_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace tandem::testing
