#include "ui/models/answer_statistics.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include "app/conversation/json.h"

namespace tandem::ui {
namespace {

QString say(const char* text) {
  return QCoreApplication::translate("Statistics", text);
}

QString samplingText(const storage::MessageRecord& answer) {
  const SamplingParams sampling = samplingFromJson(answer.samplingJson);
  return sampling.greedy() ? say("greedy") : say("seed %1").arg(QString::number(sampling.seed));
}

}  // namespace

QString originName(TokenOrigin origin) {
  switch (origin) {
    case TokenOrigin::kPlain:
      return say("plain");
    case TokenOrigin::kOwnText:
      return say("own text");
    case TokenOrigin::kWrong:
      return say("wrong on purpose");
    case TokenOrigin::kStore:
      return say("earlier texts");
    case TokenOrigin::kDraftModel:
      return say("draft model");
    case TokenOrigin::kMtp:
      return say("multi-token prediction");
    case TokenOrigin::kHalfRight:
      return say("half right on purpose");
    case TokenOrigin::kOracle:
      return say("oracle");
    case TokenOrigin::kRandom:
      return say("random");
  }
  return {};
}

QString statisticsLine(const storage::MessageRecord& answer) {
  const std::optional<GenerationStats> stats = statsFromJson(answer.statsJson);
  if (!stats || answer.state == storage::MessageState::kStreaming) {
    return {};
  }
  const QLocale locale;
  QStringList parts;
  parts << (stats->completionTokens == 1 ? say("1 token")
                                         : say("%1 tokens").arg(locale.toString(stats->completionTokens)));
  if (stats->completionTokens > 0) {
    parts << say("first token %1 s").arg(locale.toString(stats->ttftMs / 1000, 'f', 2));
  }
  if (stats->decodeTokensPerSecond() > 0) {
    parts << say("%1 tokens/s").arg(locale.toString(stats->decodeTokensPerSecond(), 'f', 0));
  }
  if (stats->rounds > 0) {
    parts << say("%1 a round").arg(locale.toString(stats->tokensPerRound(), 'f', 1));
  }
  if (stats->drafted > 0) {
    parts << say("%1 % accepted").arg(locale.toString(100 * stats->acceptance(), 'f', 0));
  }
  if (stats->fromResponse) {
    parts << say("response cache");
  } else if (stats->cachedTokens > 0) {
    parts << say("prefix cache %1").arg(locale.toString(stats->cachedTokens));
  }
  parts << samplingText(answer);
  return parts.join(QStringLiteral("  ·  "));
}

}  // namespace tandem::ui
