#include "app/desktop/program.h"

#include <spdlog/spdlog.h>

#include <QCommandLineParser>
#include <QDir>
#include <QGuiApplication>
#include <cstdio>
#include <cstdlib>

#include "app/desktop/log.h"
#include "app/desktop/single_instance.h"
#include "app/places/places.h"
#include "app/service/engine_service.h"
#include "engine/session/slots.h"
#include "storage/draft_texts.h"
#include "storage/store.h"
#include "storage/text_index.h"

namespace tandem::desktop {
namespace {

constexpr int kAnswersAtOnce = 4;

struct Options {
  QString model;  // absolute, or empty
  std::optional<std::filesystem::path> home;
  int parallel = kAnswersAtOnce;
};

Options readOptions(const QGuiApplication& application) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("Chat with a language model on this machine."));
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption model({"m", "model"}, QStringLiteral("The model to open: a GGUF file."),
                                 QStringLiteral("FILE"));
  const QCommandLineOption home("home", QStringLiteral("Keep configuration, data, cache and logs below DIR."),
                                QStringLiteral("DIR"));
  const QCommandLineOption parallel("parallel",
                                    QStringLiteral("Conversations that may be answered at once (4)."),
                                    QStringLiteral("N"), QString::number(kAnswersAtOnce));
  parser.addOptions({model, home, parallel});
  parser.process(application);
  Options options;
  if (parser.isSet(model)) {
    options.model = QDir::current().absoluteFilePath(parser.value(model));
  }
  if (parser.isSet(home)) {
    options.home = parser.value(home).toStdString();
  }
  bool isNumber = false;
  options.parallel = parser.value(parallel).toInt(&isNumber);
  if (!isNumber || options.parallel < 1 || options.parallel > Slots::kMost) {
    std::fprintf(stderr, "tandem: --parallel takes a whole number from 1 to %d, not \"%s\".\n", Slots::kMost,
                 qPrintable(parser.value(parallel)));
    std::exit(2);
  }
  return options;
}

int fail(const Error& error) {
  std::fprintf(stderr, "tandem: %s\n", error.describe().c_str());
  return 2;
}

}  // namespace

int runProgram(int argc, char** argv, const std::function<void(Composition&)>& onShown) {
  prepareApplication();
  QGuiApplication application(argc, argv);
  finishApplication();
  const Options options = readOptions(application);
  const Result<Places> places = findPlaces(options.home);
  if (!places.ok()) {
    return fail(places.error());
  }
  if (const Status made = makePlaces(places.value()); !made.ok()) {
    return fail(made.error());
  }
  SingleInstance instance(places.value());
  const Result<SingleInstance::Outcome> claim = instance.claim();
  if (!claim.ok()) {
    return fail(claim.error());
  }
  if (claim.value() == SingleInstance::Outcome::kHandedOver) {
    std::puts("Tandem is already open on this home; its window was raised.");
    return 0;
  }
  startLog(places.value());
  spdlog::info("tandem {} starts", TANDEM_VERSION);

  Result<std::unique_ptr<storage::Store>> store = storage::Store::open(places.value().database().string());
  if (!store.ok()) {
    return fail(store.error());
  }
  service::EngineOptions engineOptions;
  engineOptions.openStore = [path = places.value().database().string()](const std::string& vocabulary) {
    return std::make_shared<storage::DraftTexts>(path, vocabulary);
  };
  engineOptions.weightCache = places.value().weights().string();
  engineOptions.parallel = options.parallel;
  engineOptions.cache.budget = service::kAutomaticBudget;
  engineOptions.disk.folder.path = places.value().texts().string();
  engineOptions.disk.folder.openIndex = [](const std::string& folder) {
    return storage::CacheIndex::open(folder);
  };
  engineOptions.disk.onTrouble = [](const std::string& sentence) {
    if (!sentence.empty()) spdlog::warn("{}", sentence);
  };
  service::EngineService engine(engineOptions);
  Composition composition(*store.value(), engine, places.value());
  QObject::connect(&instance, &SingleInstance::raiseAsked, &application, [&] { composition.raise(); });
  if (const Status shown = composition.show(options.model); !shown.ok()) {
    return fail(shown.error());
  }
  if (onShown) {
    onShown(composition);
  }
  const int result = QGuiApplication::exec();
  spdlog::info("tandem ends");
  return result;
}

}  // namespace tandem::desktop
