// The rows of the store, as plain data. Ids are SQLite row ids (> 0). Times are milliseconds since the Unix
// epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::storage {

using ConversationId = std::int64_t;
using MessageId = std::int64_t;

struct ConversationRecord {
  ConversationId id = 0;
  std::string title;
  bool titleByPerson = false;  // a title the person typed is never replaced by a made one
  bool pinned = false;
  std::string systemPrompt;
  std::string settingsJson;  // sampling and speculation of this conversation; empty: the defaults
  std::int64_t createdMs = 0;
  std::int64_t updatedMs = 0;
  std::int64_t tokens = 0;  // prompt and completion tokens of the newest answer
};

enum class Role : std::uint8_t { kUser = 0, kAssistant = 1 };

// How an answer stands. The numbers are stored; never renumber.
enum class MessageState : std::uint8_t {
  kComplete = 0,
  kStreaming = 1,  // being written; found at start-up it becomes kInterrupted
  kStopped = 2,    // by the person
  kLength = 3,     // cut by max tokens or the context's end
  kFailed = 4,
  kInterrupted = 5,  // the program ended while it was being written
};

// A message is a node: its parent is the message before it, its siblings are its other versions.
struct MessageRecord {
  MessageId id = 0;
  ConversationId conversation = 0;
  MessageId parent = 0;  // 0: the first message
  Role role = Role::kUser;
  MessageState state = MessageState::kComplete;
  std::string content;                   // exact bytes
  std::vector<std::int32_t> tokenIds;    // of an answer, in order
  std::vector<std::uint8_t> origins;     // TokenOrigin of each token
  std::vector<std::uint32_t> textBytes;  // bytes of content each token completed
  std::string samplingJson;              // what the answer was sampled with, seed included
  std::string statsJson;                 // the statistics line's figures; empty while streaming
  std::string error;                     // the sentence shown in a failed answer
  std::string model;                     // name of the model that wrote it
  std::int64_t createdMs = 0;
  int version = 1;       // 1-based place among its siblings
  int versionCount = 1;  // siblings, itself included
};

struct SearchHit {
  ConversationId conversation = 0;
  MessageId message = 0;  // 0: the title matched
  std::string title;
  std::string snippet;  // plain text around the match
  std::int64_t updatedMs = 0;
};

// One row per request, no text. Columns as in the journal's documentation (docs/storage.md).
struct JournalRow {
  std::int64_t id = 0;
  std::int64_t arrivedMs = 0;
  std::string session;
  ConversationId conversation = 0;
  std::string client;    // "window", "cli"
  std::string endpoint;  // "chat", "completion"
  std::string model;
  std::string profile;  // "portable"
  std::string fingerprint;
  std::string status;  // "ok", "cancelled", "failed"
  std::string finishReason;
  int promptTokens = 0, cachedTokens = 0, completionTokens = 0;
  double queueMs = 0, prefillMs = 0, ttftMs = 0, decodeMs = 0, totalMs = 0;
  double decodeRate = 0, prefillRate = 0;  // tokens/s
  int rounds = 0, drafted = 0, accepted = 0;
  std::string acceptedByJson;  // {"own-text": 12}
  double tokensPerRound = 0;
  std::string cacheSource;  // "none"
  std::string sampling;     // "", "client", "regenerate", "loop_escape", "card"
  float temperature = 0, topP = 1, minP = 0;
  std::int64_t topK = 0;
  std::uint64_t seed = 0;
  std::string error;
  std::string engineVersion;
  std::string extraJson;  // {"regenerate": {"seed": 1}}; docs/storage.md
};

// One run of the agreement gate (docs/exactness.md). No text of prompts or answers.
struct AgreementRunRow {
  std::int64_t id = 0;
  std::int64_t startedMs = 0, endedMs = 0;
  std::string client;  // "window", "cli"
  std::string model;
  std::string fingerprint;
  std::string kernels;    // the kernel set: "avx2"
  std::string cacheType;  // as --kv names it
  int prompts = 0;
  int tokens = 0;  // asked for of each prompt
  bool passed = false;
  std::string engineVersion;
  std::string reportJson;  // the table (docs/storage.md)

  bool operator==(const AgreementRunRow&) const = default;
};

}  // namespace tandem::storage
