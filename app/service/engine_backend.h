// What the program above the engine talks to: a queue of requests in, events out. EngineService is the real
// one (a worker thread that owns the engine); tests put a fake behind the same interface.
//
// Every call returns at once and may come from any thread. Sinks are called on the backend's own threads, one
// call at a time per request, in order, and must not block; after Finished or Failed nothing more comes for
// that request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/service/cache_listing.h"
#include "engine/base/status.h"
#include "engine/constraint/spec.h"
#include "engine/session/generation.h"
#include "engine/session/reasoning_options.h"
#include "engine/speculation/round_report.h"

namespace tandem::service {

struct EndTokenInfo {
  TokenId id;
  std::string text;
};

// What a person may want to know of the loaded model.
struct ModelInfo {
  std::string path;
  std::string name;          // general.name, or the file's name
  std::string architecture;  // "llama", "gemma3"
  std::string quantization;  // "Q4_1", "Q4_K_M", ... as the file names its type
  std::string fingerprint;   // identity of the file's contents, hex
  std::uint64_t fileBytes = 0;
  std::uint64_t parameters = 0;
  int contextLength = 0;  // tokens this session holds
  int vocabSize = 0;
  bool hasChatTemplate = false;
  std::vector<EndTokenInfo> endTokens;
  std::string kernelSet;  // "avx512vnni", "avx2", "scalar"
  int threads = 0;
  std::string vocabulary;             // fingerprint of what the token ids mean
  double loadMs = 0;                  // until the model could compute, the draft model not counted
  bool weightsWereKept = false;       // whether its interleaved weights came from the disk
  std::string draftModel;             // the draft model's name; empty: none
  std::vector<std::string> warnings;  // what was asked for and is not there, a sentence each
};

struct LoadOptions {
  int threads = 0;                // 0: measured at load
  int contextLength = 0;          // 0: the model's own, bounded by memory
  std::string preTokenizer = {};  // replaces the one that the file names; empty: the file's
  // A second model of the same vocabulary that drafts. One that cannot be used is told in the model's
  // warnings, and decoding goes on without it.
  std::string draftModelPath = {};
  // Measures at once what verify passes cost; otherwise the first request that needs it does.
  bool measurePasses = false;
};

// A call that an answer asks for.
struct ToolCall {
  std::string name;
  std::string arguments;  // JSON as it was written
  std::string id = {};    // by which its result names it; may be empty
};

// A stretch of what a model wrote that its readers were not shown: its thoughts, a stop string.
struct HiddenText {
  std::size_t begin = 0;
  std::size_t bytes = std::string::npos;  // npos: to the end

  bool operator==(const HiddenText&) const = default;
};

struct PromptMessage {
  std::string role;  // "system", "user", "assistant", "tool"
  std::string content;
  std::vector<TokenId> tokens = {};      // of an answer: the ids that the model wrote it with
  std::vector<ToolCall> toolCalls = {};  // of an answer
  std::string toolCallId = {};           // of a tool's result
  // Of an answer with ids: what of their text `content` may lack, in order, and not overlapping.
  std::vector<HiddenText> hidden = {};
  std::size_t opening = 0;  // bytes of `content` before that text: what the prompt had begun; by asWritten()
};

// A stretch of a text that a model wrote.
struct AnswerSpan {
  std::size_t begin = 0, bytes = 0;
  std::vector<TokenId> tokens;  // as PromptMessage::tokens
  std::size_t opening = 0;      // so many bytes before it ended the prompt that it answered
};

// How an agent's turn is sampled, one that goes on after a tool's result (docs/loop-escape.md).
enum class AgentSampling : std::uint8_t {
  kAsAsked,     // with the request's own sampling
  kLoopEscape,  // with the model's recommended settings while the agent goes round in circles
  kCard,        // always with the model's recommended settings
};

struct GenerateRequest {
  std::vector<PromptMessage> messages;  // chat: rendered by the model's template
  std::string rawPrompt;                // completion: used when `messages` is empty
  std::vector<AnswerSpan> rawAnswers;   // the stretches of rawPrompt that are answers, in order
  std::vector<TokenId> answerSoFar;     // Continue: goes on at index answerSoFar.size() of the answer
  SamplingParams sampling;
  // A front end gives kAsAsked where the request names a sampling of its own, or has it switched off.
  AgentSampling agentSampling = AgentSampling::kLoopEscape;
  int maxTokens = 0;  // of new tokens; 0: until the context is full
  SpeculationOptions speculation;
  std::vector<std::string> stop = {};    // the answer ends before the first of these
  std::vector<TokenId> stopTokens = {};  // and with one of these
  int minTokens = 0;                     // but not before it has so many tokens
  ReasoningOptions reasoning = {};
  ConstraintSpec constraint = {};  // what its text must be
  bool fingerprint = false;        // whether GenerationStats::logitsFingerprint is wanted; it takes time
  bool cached = true;              // whether it may go on from earlier texts and is kept for later ones
  std::int64_t conversation = 0;   // whose text it is, for the cache's list; 0: none
  // Whether a greedy answer may be the one that the same request got before, and is kept for it
  // (response_cache.h). Not for whatever measures, or wants another answer.
  bool fromResponses = false;
  // Chat: answers in `messages` that come without ids, in a reader's copy, are looked up among those that
  // were written to such requests, and what the copy lacks is put back (answer_memory.h). Not for
  // conversations of the store, which bring the ids.
  bool recallsAnswers = false;
};

struct QueuedEvent {
  int ahead;  // requests before this one
};
struct PrefillEvent {
  int done;
  int total;  // prompt tokens
};
struct PieceEvent {
  TextPiece piece;
};
// A round of the loop: what was drafted, and why.
struct RoundEvent {
  RoundReport report;
};
// Something is not as it was asked for; the answer goes on.
struct WarningEvent {
  std::string sentence;
};
// A sampling that was not asked for but chosen by the service.
struct ChosenSampling {
  std::string kind = {};    // the ledger's `sampling`: "loop_escape", "card"
  std::string reason = {};  // of an escape: "repeat", "near_repeat"
  int stepsBack = 0;        // of an escape: to the call that was repeated
  SamplingParams params = {};
};
struct FinishedEvent {
  GenerationStats stats;
  std::vector<TokenId> prompt = {};  // its token ids, where the request came to run
  ReasoningStats reasoning = {};     // of the whole answer
  std::optional<ChosenSampling> chosen = {};
};
struct FailedEvent {
  Error error;
  GenerationStats stats;  // as far as it came
  std::optional<ChosenSampling> chosen = {};
};
using GenerationEvent =
    std::variant<QueuedEvent, PrefillEvent, PieceEvent, RoundEvent, WarningEvent, FinishedEvent, FailedEvent>;
using GenerationSink = std::function<void(GenerationEvent)>;

struct LoadProgressEvent {
  double fraction;  // 0 to 1
};
using LoadEvent = std::variant<LoadProgressEvent, ModelInfo, Error>;
using LoadSink = std::function<void(LoadEvent)>;

// A running or waiting request. Dropping the handle does not cancel it.
class RequestHandle {
 public:
  virtual ~RequestHandle() = default;
  // Stops within 200 ms in any state; the sink then gets Finished with FinishReason::kCancelled.
  virtual void cancel() = 0;
};

class EngineBackend {
 public:
  virtual ~EngineBackend() = default;

  // Loads `path` and makes it the current model; requests submitted afterwards wait for it. A load that fails
  // leaves the earlier model in place. A second call cancels a load that is still waiting.
  virtual void loadModel(std::string path, LoadOptions options, LoadSink sink) = 0;
  virtual std::optional<ModelInfo> model() const = 0;  // nullopt: none is loaded

  virtual std::shared_ptr<RequestHandle> submit(GenerateRequest request, GenerationSink sink) = 0;

  // Tokens the prompt of `request` would have (template included). Answers on a backend thread; of several
  // waiting counts only the newest is answered with a number, the others with kCancelled.
  virtual void countTokens(GenerateRequest request, std::function<void(Result<int>)> sink) = 0;

  // What the caches hold now: that of the loaded model, and on disk those of all.
  virtual void listCaches(CacheListingSink sink) { sink({}); }
  // Computes an entry anew and compares every byte, while nothing else runs: a request that comes goes first,
  // after a chunk of a tenth of a second. Loading a model ends all proofs.
  virtual std::shared_ptr<RequestHandle> proveText(std::string /*key*/, ProofSink sink) {
    sink(Error{ErrorCode::kUnsupported, "There is no engine that could prove anything."});
    return nullptr;
  }
  // Lets an entry go, with its file; later listings are without it.
  virtual void dropText(std::string /*key*/) {}
  virtual void clearDiskCache() {}
  // Counts for what is loaded and for all that will be.
  virtual void setCaches(const CacheSettings& /*settings*/) {}
  // A conversation was deleted: what the caches hold of it, in memory and on disk, of whatever model, goes.
  // May wait for the disk, but not for a request.
  virtual void forgetConversation(std::int64_t /*conversation*/) {}
};

}  // namespace tandem::service
