// A chat at a terminal or in a script, on the window's store: the state between two typed lines, and what the
// conversation service tells. Used by the main thread only; ChatListener brings the service's calls there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/chat_terminal.h"
#include "app/conversation/conversation_service.h"

namespace tandem::cli {

// Passes what the service tells on to the main loop.
class Chat;
class ChatListener : public ConversationListener {
 public:
  ChatListener(MainLoop& loop, Chat& chat) : loop_(loop), chat_(chat) {}
  void conversationsChanged(std::vector<storage::ConversationRecord> list) override;
  void conversationChanged(ConversationView view) override;
  void answerQueued(MessageId, int) override {}
  void answerPrefill(MessageId, int, int) override {}
  void answerPiece(MessageId answer, TextPiece piece) override;
  void answerFinished(MessageId answer, GenerationStats stats) override;
  void answerFailed(MessageId answer, Error error, std::string draft) override;
  void storeTrouble(std::string sentence) override;

 private:
  MainLoop& loop_;
  Chat& chat_;
};

class Chat {
 public:
  // quiet: nothing is written while answers come; result() tells all at the end.
  Chat(MainLoop& loop, bool quiet);

  // Answers lines until standard input ends. REQUIRES: the service's listener is a ChatListener of this chat.
  void run(ConversationService& service);

  const ConversationView& view() const { return view_; }
  const std::optional<Error>& failure() const { return failure_; }  // the last thing that went wrong

  // What the service tells; see ConversationListener.
  void onList(std::vector<storage::ConversationRecord> list);
  void onView(ConversationView view);
  void onPiece(const TextPiece& piece);
  void onFinished(const GenerationStats& stats);
  void onFailed(const Error& error, const std::string& draft);
  void notice(std::string_view sentence);  // a line on standard error

 private:
  // What is waited for before the next line is read.
  enum class Wait { kNothing, kAnswer, kEndOfAnswer, kView, kList };

  void onLine(ConversationService& service, const std::string& line);
  void command(ConversationService& service, std::string_view name, std::string_view argument);
  void open(ConversationService& service, std::string_view argument);
  void prompt();
  void showList(const std::vector<storage::ConversationRecord>& list);
  void showPath();
  void write(std::string_view text);
  void endLine();
  const storage::MessageRecord* lastAnswer() const;

  MainLoop& loop_;
  const bool quiet_;
  const bool terminalIn_, terminalOut_;
  Wait wait_ = Wait::kNothing;
  ConversationView view_;  // record.id 0: none yet
  std::optional<Error> failure_;
  bool atLineStart_ = true;
};

}  // namespace tandem::cli
