// tandem-cli chat: a chat in the terminal, on the same store as the window.
#include <unistd.h>

#include <cstdio>
#include <limits>

#include "app/cli/chat.h"
#include "app/cli/commands.h"
#include "app/cli/draft_texts.h"
#include "app/cli/engine_choice.h"
#include "app/cli/request_choice.h"
#include "app/cli/statistics.h"
#include "app/conversation/json.h"
#include "app/service/engine_service.h"
#include "storage/store.h"

namespace tandem::cli {
namespace {

constexpr Usage kUsage = {
    "chat", "[options]",
    "Chats in the terminal, on the same conversations as the window. Each line is a message; /help lists "
    "the\n"
    "commands. Ctrl-C stops the answer, Ctrl-D leaves. Lines may also come from a pipe; then answers go to\n"
    "standard output and everything else to standard error. --json writes the last conversation at the end."};

struct ChatOptions {
  CommonOptions common;
  EngineChoice engine;
  SamplingChoice sampling;
  EndsChoice ends;
  ConstraintChoice form;
  SpeculationOptions speculation;
  std::string system;
  StoreUse store = StoreUse::kOn;
  int tokens = 0;
  bool responseCache = false;

  OptionTable table() {
    OptionTable table = {
        {"--system", 0, "TEXT", "the system prompt of new conversations", text(system)},
        {"--tokens", 'n', "N", "at most N new tokens an answer; 0: until the context is full",
         wholeNumber(tokens, 0, std::numeric_limits<int>::max())},
    };
    append(table, endsTable(ends));
    append(table, constraintTable(form));
    append(table, samplingTable(sampling));
    append(table, speculationTable(speculation));
    append(table, storeTable(store));
    append(table, draftModelTable(engine));
    append(table, engineTable(engine));
    append(table, contextTable(engine));
    append(table, cacheTable(engine));
    append(table, responseTable(responseCache));
    return table;
  }
};

// Loads the model and waits for it; Ctrl-C ends the wait.
Result<service::ModelInfo> load(MainLoop& loop, service::EngineBackend& backend, const std::string& path,
                                const EngineChoice& choice) {
  std::optional<Result<service::ModelInfo>> loaded;
  backend.loadModel(path, loadOptions(choice), [&loop, &loaded](service::LoadEvent event) {
    if (std::holds_alternative<service::LoadProgressEvent>(event)) return;
    loop.post([&loaded, event = std::move(event)] {
      if (const auto* info = std::get_if<service::ModelInfo>(&event)) {
        loaded = *info;
      } else {
        loaded = std::get<Error>(event);
      }
    });
  });
  bool interrupted = false;
  while (!loaded)
    interrupted |= loop.wait(false) == MainLoop::Event::kInterrupt;
  if (interrupted) return Error{ErrorCode::kCancelled, "Stopped while the model was being loaded."};
  return std::move(*loaded);
}

nlohmann::json messageJson(const storage::MessageRecord& message) {
  nlohmann::json json = {{"role", message.role == storage::Role::kUser ? "user" : "assistant"},
                         {"content", message.content}};
  if (message.role == storage::Role::kUser) return json;
  json["ids"] = message.tokenIds;
  if (const auto stats = statsFromJson(message.statsJson)) json["stats"] = statisticsJson(*stats);
  if (!message.error.empty()) json["error"] = message.error;
  return json;
}

nlohmann::json conversationJson(const ConversationView& view) {
  nlohmann::json messages = nlohmann::json::array();
  for (const storage::MessageRecord& message : view.path)
    messages.push_back(messageJson(message));
  return {{"conversation", view.record.id}, {"title", view.record.title}, {"messages", messages}};
}

Result<int> chat(const ChatOptions& options) {
  if (const auto sampling = options.sampling.settled(); !sampling) return sampling.error();
  Result<ConstraintSpec> form = options.form.settled();
  if (!form) return form.error();
  const Result<std::string> path = findModel(options.common, options.engine.model);
  if (!path) return path.error();
  const Result<Places> places = placesOf(options.common);
  if (!places) return places.error();
  if (const Status status = makePlaces(*places); !status) return status.error();

  MainLoop loop;
  service::EngineOptions engine = options.engine.engine;
  engine.weightCache = weightFolder(options.common, options.engine);
  engine.disk = diskCache(*places, engine.disk);
  engine.disk.onTrouble = [](const std::string& sentence) {
    if (!sentence.empty()) std::fprintf(stderr, "%s\n", sentence.c_str());
  };
  if (options.store != StoreUse::kOff) engine.openStore = draftTextsIn(*places);
  service::EngineService backend(engine);
  const auto info = load(loop, backend, *path, options.engine);
  if (!info) return info.error();
  const auto store = storage::Store::open(places->database().string());
  if (!store) return store.error();

  Chat chat(loop, options.common.json);
  ChatListener listener(loop, chat);
  {
    ConversationService service(**store, backend, &listener, "cli");
    AnswerSettings defaults;
    defaults.sampling = options.sampling.params;
    defaults.sampling.seed = options.sampling.seed.value_or(0);
    defaults.seedGiven = options.sampling.seed.has_value();
    defaults.maxTokens = options.tokens;
    defaults.minTokens = options.ends.minTokens;
    defaults.reasoning = options.ends.reasoning;
    defaults.stop = options.ends.stop;
    defaults.stopTokens = options.ends.stopTokens;
    defaults.constraint = std::move(*form);
    defaults.speculation = options.speculation;
    defaults.responseCache = options.responseCache;
    defaults.keepsTexts = options.store == StoreUse::kOn;
    service.setDefaults(defaults, options.system);
    if (!info->hasChatTemplate) {
      chat.notice("This model has no chat template: it continues the text of the conversation as it is.");
    }
    for (const std::string& warning : info->warnings)
      chat.notice(warning);
    chat.run(service);
  }
  if (options.common.json) printJson(conversationJson(chat.view()));
  // A person at a terminal has seen what failed; a script sees the status.
  return chat.failure() && isatty(STDIN_FILENO) != 1 ? kBadInput : kDone;
}

}  // namespace

int chatCommand(const Arguments& arguments) {
  ChatOptions options;
  if (const auto status = readOptions(kUsage, options.table(), arguments, options.common)) return *status;
  const Result<int> status = chat(options);
  return status ? *status : fail(options.common, status.error());
}

}  // namespace tandem::cli
