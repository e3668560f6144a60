#include "ui/models/session.h"

#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>
#include <utility>

namespace tandem::ui {
namespace {

constexpr int kFrameMs = 16;
constexpr int kClockMs = 30'000;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

Session::Session(storage::Store& store, service::EngineBackend& backend, const Files& files, QObject* parent)
    : QObject(parent),
      settings_(files.settings),
      models_(backend, files.models),
      caches_(backend, conversations_),
      backend_(backend),
      chat_(conversations_, messages_, models_, settings_),
      post_(this),
      feed_([this, sender = post_.sender()] { sender([this] { drainSoon(); }); }),
      service_(std::make_unique<ConversationService>(store, backend, &feed_, "window")) {
  chat_.setService(service_.get());
  drainTimer_.setSingleShot(true);
  drainTimer_.setTimerType(Qt::PreciseTimer);
  connect(&drainTimer_, &QTimer::timeout, this, &Session::drain);
  clock_.setInterval(kClockMs);
  connect(&clock_, &QTimer::timeout, &conversations_, &ConversationListModel::refreshTimes);
  clock_.start();
  connect(&models_, &ModelLibrary::aboutToLoad, this, [this] { service_->stopAll(); });
  connect(&models_, &ModelLibrary::loaded, this,
          [this](const QString& path) { settings_.setModelPath(path); });
  connect(&settings_, &AppSettings::changed, this, &Session::applySettings);
  threads_ = settings_.threads();
  applySettings();
}

Session::~Session() {
  chat_.setService(nullptr);
  service_.reset();
}

void Session::start(const QString& model) {
  service_->refreshList();
  const QString path = model.isEmpty() ? models_.startChoice(settings_.modelPath()) : model;
  if (!path.isEmpty()) {
    models_.load(path);
  }
}

void Session::applySettings() {
  service_->setDefaults(settings_.answerDefaults(), settings_.systemPrompt().toStdString());
  models_.setThreads(settings_.threads());
  backend_.setCaches(settings_.caches());
  if (std::exchange(threads_, settings_.threads()) != settings_.threads()) {
    models_.reload();
  }
}

// The first event after a drain waits for the rest of its frame, so that a fast stream costs one update a
// frame.
void Session::drainSoon() {
  if (!drainTimer_.isActive()) {
    const qint64 elapsed = sinceDrain_.isValid() ? sinceDrain_.elapsed() : kFrameMs;
    drainTimer_.start(static_cast<int>(std::max<qint64>(0, kFrameMs - elapsed)));
  }
}

void Session::drain() {
  sinceDrain_.start();
  for (FeedEvent& event : feed_.take()) {
    dispatch(std::move(event));
  }
}

void Session::dispatch(FeedEvent event) {
  std::visit(Overloaded{[this](ListChanged& change) {
                          conversations_.setList(std::move(change.list));
                          chat_.onListChanged();
                        },
                        [this](ViewChanged& change) { chat_.onView(change.view); },
                        [this](AnswerQueued& change) { chat_.onQueued(change); },
                        [this](AnswerPrefill& change) { chat_.onPrefill(change); },
                        [this](AnswerPieces& change) { chat_.onPieces(change); },
                        [this](AnswerFinished& change) { chat_.onFinished(change); },
                        [this](AnswerFailed& change) { chat_.onFailed(change); },
                        [this](StoreTrouble& change) {
                          storeTrouble_ = QString::fromStdString(change.sentence);
                          emit storeTroubleChanged();
                        }},
             event);
}

void Session::search(const QString& query) {
  const QString wanted = query.trimmed();
  found_.setQuery(wanted);
  if (wanted.isEmpty()) {
    return;
  }
  service_->search(wanted.toStdString(), [this, wanted, sender = post_.sender()](auto hits) {
    sender([this, wanted, hits = std::move(hits)] { found_.setHits(wanted, hits); });
  });
}

void Session::rename(qint64 conversation, const QString& title) {
  const QString wanted = title.simplified();
  if (!wanted.isEmpty() && wanted != conversations_.titleOf(conversation)) {
    service_->rename(conversation, wanted.toStdString());
  }
}

void Session::setPinned(qint64 conversation, bool pinned) {
  service_->setPinned(conversation, pinned);
}

void Session::remove(qint64 conversation) {
  const int row = conversations_.rowOf(conversation);
  if (row < 0) {
    return;
  }
  const QString title = conversations_.titleOf(conversation);
  service_->remove(conversation);
  if (conversation == chat_.conversationId()) {
    chat_.startNew();
  }
  emit removed(conversation, title);
}

void Session::undoRemove(qint64 conversation) {
  service_->undoRemove(conversation);
  chat_.open(conversation);
}

void Session::purge(qint64 conversation) {
  service_->purge(conversation);
}

void Session::copyText(const QString& text) const {
  QGuiApplication::clipboard()->setText(text);
}

}  // namespace tandem::ui
