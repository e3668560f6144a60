// One request on its way: a sent or edited message, a regenerated or continued answer. A Turn is made on the
// service's thread, written to the store by a job on the writer thread, and then streamed on the service's
// thread until it ends.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/conversation/conversation_service.h"
#include "storage/writer.h"

namespace tandem {

struct Turn {
  enum class Kind { kSend, kEdit, kRegenerate, kContinue };

  // What is asked for; fixed once the job is posted.
  Kind kind = Kind::kSend;
  ConversationId conversation = 0;  // 0: a new one; its id is known after the commit
  MessageId source = 0;             // the message that is edited, regenerated or continued
  std::string text;                 // the person's, of kSend and kEdit
  std::string newSettingsJson;      // of a new conversation
  std::string newSystemPrompt;      // of a new conversation
  AnswerSettings defaults;
  std::uint64_t freshSeed = 0;  // used where a seed is wanted and none is given
  std::string modelName;
  std::int64_t arrivedMs = 0;

  // A stop before the job has run takes the turn back whole; once the job has begun it is written.
  enum class Gate { kWaiting, kWriting, kWithdrawn };
  std::atomic<Gate> gate = Gate::kWaiting;
  // True when the turn was taken back. Any thread.
  bool withdraw();
  // True when the job may write. Writer thread.
  bool enter();

  // Filled in by the job; the service's thread looks at it after the commit only.
  ConversationView view;
  AnswerSettings settings;
  std::string samplingKind;       // the journal's column
  MessageId firstAdded = 0;       // what is removed when the turn must leave nothing behind; 0: of kContinue
  MessageId shownBefore = 0;      // and what is shown again in its place
  storage::MessageRecord answer;  // grows while the answer streams
  storage::MessageRecord before;  // kContinue: the answer as it was

  // The service's thread's.
  bool committed = false;
  bool stopWanted = false;
  bool ended = false;
  std::optional<service::ModelInfo> model;
  bool completion = false;  // raw prompt, no chat template
  std::shared_ptr<service::RequestHandle> handle;
  std::vector<TokenId> promptIds;                 // of the finished request
  ReasoningStats reasoning;                       // of the finished request's answer
  std::optional<service::ChosenSampling> chosen;  // by the backend in place of the turn's own sampling
  std::size_t startTokens = 0;                    // of the answer before this request
  std::size_t savedTokens = 0, savedBytes = 0;    // of the answer, on disk
  bool saving = false;                            // a part is on its way to disk
  std::optional<std::chrono::steady_clock::time_point> unsavedSince;
  std::vector<std::function<void()>> afterwards;  // run once the end is posted

  SamplingParams sampling() const;
  int newTokens() const { return static_cast<int>(answer.tokenIds.size() - startTokens); }
};

// How a turn ended, for the store.
struct TurnEnd {
  ConversationId conversation = 0;
  storage::MessageRecord answer;
  bool remove = false;  // leave nothing of the turn behind
  MessageId firstAdded = 0, shownBefore = 0;
  std::int64_t nowMs = 0;
  std::int64_t tokens = 0;  // the context's, for the conversation; 0: as before
  // Prompt and answer as token ids, kept for drafting; empty: not kept.
  std::vector<TokenId> draftText;
  std::string vocabulary;
  storage::JournalRow journal;
};

// The jobs of the writer thread. Both can be run again from the start.
Status writeTurn(storage::Writer& writer, Turn& turn);
// view: the conversation afterwards; left empty when it is no longer there.
Status writeEnd(storage::Writer& writer, const TurnEnd& end, std::optional<ConversationView>& view);

Result<ConversationView> readView(storage::Reader& reader, ConversationId id);

// What the backend is asked for: the path's messages before `answer`. Without a chat template the contents
// follow one another as they are, and the system prompt, which no template would mark as one, is left out.
service::GenerateRequest promptOf(const ConversationView& view, MessageId answer, bool completion);

// The journal's row of a turn; `stats` are this request's alone. error: empty when it ended well.
storage::JournalRow journalRow(const Turn& turn, const GenerationStats& stats,
                               const std::optional<Error>& error);

// The figures of an answer that was made in two requests: counts and times of writing add up, prompt and time
// to first token stay the first's.
GenerationStats joined(const GenerationStats& before, const GenerationStats& now);

std::int64_t nowMs();

}  // namespace tandem
