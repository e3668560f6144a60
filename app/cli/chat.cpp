#include "app/cli/chat.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace tandem::cli {
namespace {

constexpr char kHelp[] =
    "/new          begin a new conversation\n"
    "/list         the conversations, newest first\n"
    "/open N       go on with conversation N\n"
    "/regen        another answer in place of the last one, which stays as a version\n"
    "/continue     go on with an answer that was stopped or cut\n"
    "/help         this list\n"
    "Ctrl-C stops the answer, Ctrl-D leaves.\n";

}  // namespace

void ChatListener::conversationsChanged(std::vector<storage::ConversationRecord> list) {
  loop_.post([&chat = chat_, list = std::move(list)] { chat.onList(list); });
}

void ChatListener::conversationChanged(ConversationView view) {
  loop_.post([&chat = chat_, view = std::move(view)] { chat.onView(view); });
}

void ChatListener::answerPiece(MessageId, TextPiece piece) {
  loop_.post([&chat = chat_, piece = std::move(piece)] { chat.onPiece(piece); });
}

void ChatListener::answerFinished(MessageId, GenerationStats stats) {
  loop_.post([&chat = chat_, stats] { chat.onFinished(stats); });
}

void ChatListener::answerFailed(MessageId, Error error, std::string draft) {
  loop_.post(
      [&chat = chat_, error = std::move(error), draft = std::move(draft)] { chat.onFailed(error, draft); });
}

void ChatListener::storeTrouble(std::string sentence) {
  if (sentence.empty()) return;
  loop_.post([&chat = chat_, sentence = std::move(sentence)] { chat.notice(sentence); });
}

Chat::Chat(MainLoop& loop, bool quiet)
    : loop_(loop),
      quiet_(quiet),
      terminalIn_(isatty(STDIN_FILENO) == 1),
      terminalOut_(isatty(STDOUT_FILENO) == 1) {}

void Chat::run(ConversationService& service) {
  prompt();
  while (true) {
    switch (loop_.wait(wait_ == Wait::kNothing)) {
      case MainLoop::Event::kTasks:
        break;
      case MainLoop::Event::kLine:
        onLine(service, loop_.line());
        if (wait_ == Wait::kNothing) prompt();
        break;
      case MainLoop::Event::kInterrupt:
        if (wait_ == Wait::kAnswer) {
          service.stopAll();
        } else if (wait_ == Wait::kNothing) {
          notice("Ctrl-D leaves; /help lists the commands.");
          prompt();
        }
        break;
      case MainLoop::Event::kEnd:
        endLine();
        return;
    }
  }
}

void Chat::onLine(ConversationService& service, const std::string& line) {
  atLineStart_ = true;
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  if (line[0] == '/') {
    const std::size_t space = line.find(' ');
    const std::string_view argument =
        space == std::string::npos ? std::string_view() : std::string_view(line).substr(space + 1);
    return command(service, std::string_view(line).substr(0, space), argument);
  }
  wait_ = Wait::kAnswer;
  service.send(view_.record.id, line);
}

void Chat::command(ConversationService& service, std::string_view name, std::string_view argument) {
  if (name == "/new") {
    view_ = {};
    notice("A new conversation begins with your next line.");
  } else if (name == "/list") {
    wait_ = Wait::kList;
    service.refreshList();
  } else if (name == "/open") {
    open(service, argument);
  } else if (name == "/regen" || name == "/continue") {
    const storage::MessageRecord* answer = lastAnswer();
    if (answer == nullptr) return notice("There is no answer yet.");
    wait_ = Wait::kAnswer;
    if (name == "/regen") return service.regenerate(answer->id);
    service.continueAnswer(answer->id);
  } else if (name == "/help") {
    write(kHelp);
  } else {
    notice(std::string(name) + " is not a command; /help lists them.");
  }
}

void Chat::open(ConversationService& service, std::string_view argument) {
  ConversationId id = 0;
  const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), id);
  if (error != std::errc() || end != argument.data() + argument.size() || id <= 0) {
    return notice("/open needs the number of a conversation; /list tells them.");
  }
  wait_ = Wait::kView;
  service.open(id);
}

void Chat::onList(std::vector<storage::ConversationRecord> list) {
  if (wait_ == Wait::kList) {
    wait_ = Wait::kNothing;
    showList(list);
    prompt();
  } else if (wait_ == Wait::kEndOfAnswer) {
    const bool gone = std::none_of(list.begin(), list.end(),
                                   [this](const auto& record) { return record.id == view_.record.id; });
    if (!gone) return;  // its view comes too
    wait_ = Wait::kNothing;
    notice("This conversation was deleted meanwhile.");
    view_ = {};
    prompt();
  }
}

void Chat::onView(ConversationView view) {
  const bool streaming = std::any_of(view.path.begin(), view.path.end(), [](const auto& message) {
    return message.state == storage::MessageState::kStreaming;
  });
  const bool isShown = wait_ == Wait::kView;
  if (!isShown && view_.record.id != 0 && view.record.id != view_.record.id) return;
  view_ = std::move(view);
  if (isShown) showPath();
  if (isShown || (wait_ == Wait::kEndOfAnswer && !streaming)) {
    wait_ = Wait::kNothing;
    prompt();
  }
}

void Chat::onPiece(const TextPiece& piece) {
  write(piece.text);
}

void Chat::onFinished(const GenerationStats& stats) {
  if (stats.finish == FinishReason::kFailed) return;  // the reason follows
  endLine();
  wait_ = Wait::kEndOfAnswer;
  if (stats.fromResponse) {
    return notice(std::string("[") + finishReasonName(stats.finish) + ": " +
                  std::to_string(stats.completionTokens) + " tokens, response cache]");
  }
  char figures[160];
  std::snprintf(figures, sizeof figures, "[%s: %d tokens, %.1f/s, %.2f a round]",
                finishReasonName(stats.finish), stats.completionTokens, stats.decodeTokensPerSecond(),
                stats.tokensPerRound());
  notice(figures);
}

void Chat::onFailed(const Error& error, const std::string&) {
  const bool isAwaited = wait_ != Wait::kNothing;
  endLine();
  notice(error.describe());
  failure_ = error;
  wait_ = Wait::kNothing;
  if (isAwaited) prompt();
}

const storage::MessageRecord* Chat::lastAnswer() const {
  const auto last = std::find_if(view_.path.rbegin(), view_.path.rend(), [](const auto& message) {
    return message.role == storage::Role::kAssistant;
  });
  return last == view_.path.rend() ? nullptr : &*last;
}

void Chat::showList(const std::vector<storage::ConversationRecord>& list) {
  if (list.empty()) notice("There are no conversations yet.");
  for (const storage::ConversationRecord& record : list) {
    write(std::to_string(record.id) + "  " + record.title + "\n");
  }
}

void Chat::showPath() {
  for (const storage::MessageRecord& message : view_.path) {
    write((message.role == storage::Role::kUser ? "> " : "") + message.content);
    endLine();
  }
}

void Chat::prompt() {
  if (!terminalIn_ || quiet_) return;
  std::fputs("> ", stderr);
  std::fflush(stderr);
}

void Chat::notice(std::string_view sentence) {
  endLine();
  std::fprintf(stderr, "%s\n", terminalSafe(sentence).c_str());
}

void Chat::write(std::string_view text) {
  if (quiet_ || text.empty()) return;
  const std::string shown = terminalOut_ ? terminalSafe(text) : std::string(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  std::fflush(stdout);
  atLineStart_ = text.back() == '\n';
}

void Chat::endLine() {
  if (!atLineStart_) write("\n");
}

}  // namespace tandem::cli
