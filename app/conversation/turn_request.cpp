// What a turn asks the backend for, and what its journal row says of it.
#include "app/conversation/json.h"
#include "app/conversation/turn.h"

namespace tandem {

namespace {

// An answer with the ids that wrote it, and what of their text it does not show.
service::PromptMessage answerOf(const storage::MessageRecord& message) {
  service::PromptMessage answer{
      "assistant", message.content, {message.tokenIds.begin(), message.tokenIds.end()}};
  const auto stats = statsFromJson(message.statsJson);
  if (!stats || answer.tokens.empty()) return answer;
  if (stats->finish == FinishReason::kStopToken) answer.tokens.pop_back();
  if (stats->finish == FinishReason::kStopString) answer.hidden.push_back({.begin = message.content.size()});
  return answer;
}

}  // namespace

service::GenerateRequest promptOf(const ConversationView& view, MessageId answer, bool completion) {
  service::GenerateRequest request;
  request.conversation = view.record.id;
  if (!completion && !view.record.systemPrompt.empty()) {
    request.messages.push_back({"system", view.record.systemPrompt});
  }
  for (const storage::MessageRecord& message : view.path) {
    if (message.id == answer) break;
    if (!completion) {
      const bool user = message.role == storage::Role::kUser;
      request.messages.push_back(user ? service::PromptMessage{"user", message.content} : answerOf(message));
      continue;
    }
    std::vector<TokenId> ids = answerOf(message).tokens;
    if (!ids.empty())
      request.rawAnswers.push_back({request.rawPrompt.size(), message.content.size(), std::move(ids)});
    request.rawPrompt += message.content;
  }
  return request;
}

storage::JournalRow journalRow(const Turn& turn, const GenerationStats& stats,
                               const std::optional<Error>& error) {
  const SamplingParams sampling = turn.sampling();
  storage::JournalRow row;
  row.arrivedMs = turn.arrivedMs;
  row.conversation = turn.conversation;
  row.endpoint = turn.completion ? "completion" : "chat";
  row.model = turn.model ? turn.model->name : turn.modelName;
  row.profile = "portable";
  row.fingerprint = turn.model ? turn.model->fingerprint : "";
  row.status = error ? "failed" : stats.finish == FinishReason::kCancelled ? "cancelled" : "ok";
  row.finishReason = error ? finishReasonName(FinishReason::kFailed) : finishReasonName(stats.finish);
  row.promptTokens = stats.promptTokens;
  row.cachedTokens = stats.cachedTokens;
  row.completionTokens = stats.completionTokens;
  row.queueMs = stats.queueMs;
  row.prefillMs = stats.prefillMs;
  row.ttftMs = stats.ttftMs;
  row.decodeMs = stats.decodeMs;
  row.totalMs = stats.totalMs;
  row.decodeRate = stats.decodeTokensPerSecond();
  row.prefillRate = stats.prefillTokensPerSecond();
  row.rounds = stats.rounds;
  row.drafted = stats.drafted;
  row.accepted = stats.accepted;
  row.acceptedByJson = acceptedByToJson(stats);
  row.tokensPerRound = stats.tokensPerRound();
  row.cacheSource = cacheSourceName(stats);
  row.sampling = turn.samplingKind;
  row.temperature = sampling.temperature;
  row.topP = sampling.topP;
  row.topK = sampling.topK;
  row.minP = sampling.minP;
  row.seed = sampling.seed;
  // The code and not the sentence: a template's own message could quote the conversation.
  if (error) row.error = errorCodeName(error->code);
  row.engineVersion = TANDEM_VERSION;
  row.extraJson = extraToJson(sampling, turn.settings, turn.samplingKind, turn.reasoning, turn.chosen);
  return row;
}

GenerationStats joined(const GenerationStats& before, const GenerationStats& now) {
  GenerationStats all = before;
  all.completionTokens += now.completionTokens;
  all.queueMs += now.queueMs;
  all.decodeMs += now.decodeMs;
  all.totalMs += now.totalMs;
  all.rounds += now.rounds;
  all.drafted += now.drafted;
  all.accepted += now.accepted;
  for (int origin = 0; origin < kTokenOriginCount; ++origin) {
    all.draftedBy[origin] += now.draftedBy[origin];
    all.acceptedBy[origin] += now.acceptedBy[origin];
  }
  all.finish = now.finish;
  all.seed = now.seed;
  all.logitsFingerprint = now.logitsFingerprint;
  return all;
}

}  // namespace tandem
