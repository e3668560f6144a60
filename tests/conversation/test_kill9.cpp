// Kills a chatting process with SIGKILL at 50 random moments, each time on the same file, and looks for
// everything it had been told was kept. TANDEM_KILL_SEED repeats a run.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <chrono>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "tests/conversation/kill9_text.h"
#include "tests/storage/store_helpers.h"

using namespace tandem;
using namespace tandem::testing;
using namespace std::chrono_literals;

namespace {

constexpr int kKills = 50;
constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t monotonicNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Kept {
  ConversationId conversation = 0;
  MessageId question = 0;
  std::string promptHex;
  std::size_t bytes = 0;  // that must be there
  bool ended = false;
};

struct Run {
  std::string told;  // all lines of the child
  std::int64_t killedAt = 0;
  bool died = false;  // of the signal, and not before
};

// Lets the child chat for `ms`, kills it, and collects what it said.
Run runAndKill(const std::string& path, unsigned seed, int ms) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(TANDEM_KILL9_WRITER, TANDEM_KILL9_WRITER, path.c_str(), std::to_string(seed).c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  Run run;
  const auto start = std::chrono::steady_clock::now();
  char buffer[65536];
  bool killed = false;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        start + std::chrono::milliseconds(ms) - std::chrono::steady_clock::now());
    if (!killed && left <= 0ms) {
      run.killedAt = monotonicNow();
      kill(child, SIGKILL);
      killed = true;
    }
    pollfd poller{ends[0], POLLIN, 0};
    poll(&poller, 1, killed ? 1000 : static_cast<int>(left.count()));
    if (poller.revents == 0) continue;
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count <= 0) break;
    run.told.append(buffer, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  run.died = killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  return run;
}

// Adds what the lines of this run promise to what is kept for good.
void addPromises(const Run& run, std::map<MessageId, Kept>& kept) {
  std::istringstream lines(run.told);
  for (std::string line; std::getline(lines, line) && !lines.eof();) {  // the last line may be cut
    std::istringstream fields(line);
    std::string kind;
    MessageId answer = 0;
    fields >> kind;
    if (kind == "T") {
      Kept turn;
      fields >> turn.conversation >> turn.question >> answer >> turn.promptHex;
      kept[answer] = turn;
    } else if (kind == "P") {
      std::size_t bytes = 0;
      std::int64_t at = 0;
      fields >> answer >> bytes >> at;
      if (at <= run.killedAt - kSecond) kept[answer].bytes = bytes;
    } else if (kind == "E") {
      fields >> answer;
      fields >> kept[answer].bytes;
      kept[answer].ended = true;
    }
  }
}

}  // namespace

class TestKill9 : public QObject {
  Q_OBJECT

 private slots:
  void nothingAcknowledgedIsLost();
};

void TestKill9::nothingAcknowledgedIsLost() {
  const unsigned seed = qEnvironmentVariableIsSet("TANDEM_KILL_SEED")
                            ? qEnvironmentVariable("TANDEM_KILL_SEED").toUInt()
                            : std::random_device()();
  qInfo("TANDEM_KILL_SEED=%u", seed);
  std::mt19937 random(seed);
  QTemporaryDir dir;
  const std::string path = dir.filePath("tandem.db").toStdString();
  std::string expected;
  while (expected.size() < 20'000)
    expected += kAnswerText;

  std::map<MessageId, Kept> kept;
  int interrupted = 0;
  for (int i = 0; i < kKills; ++i) {
    // Mostly in the midst of streaming, sometimes while starting, some long enough for the one-second bound.
    const int ms =
        i % 5 == 0 ? 1 + static_cast<int>(random() % 100) : 200 + static_cast<int>(random() % 1600);
    const Run run = runAndKill(path, random(), ms);
    const QByteArray where = QString("kill %1 of seed %2, after %3 ms").arg(i).arg(seed).arg(ms).toUtf8();
    QVERIFY2(run.died, where.constData());
    addPromises(run, kept);

    QCOMPARE(askFile(path, "PRAGMA integrity_check"), std::string("ok"));
    auto store = Store::open(path);
    QVERIFY2(store.ok(), where.constData());
    QVERIFY2((*store)->trouble().empty(), (*store)->trouble().c_str());
    QVERIFY2((*store)->write([](Writer&) { return Status(); }), where.constData());  // behind the sweep
    const Status all = (*store)->read([&](Reader& reader) -> Status {
      for (const auto& [answer, promise] : kept) {
        const auto m = reader.message(answer);
        const auto q = reader.message(promise.question);
        const auto wrong = [&](const char* what) {
          return Error{ErrorCode::kInternal, std::string(what) + " in message " + std::to_string(answer)};
        };
        if (!m || !q) return wrong("an acknowledged turn is gone");
        if (hexOf(q->content) != promise.promptHex) return wrong("the prompt differs");
        if (m->content.size() < promise.bytes) return wrong("more than a second of text is gone");
        if (m->content != expected.substr(0, m->content.size())) return wrong("the text differs");
        if (m->textBytes.size() != m->tokenIds.size()) return wrong("tokens and their bytes differ");
        const bool over = m->state == MessageState::kInterrupted || m->state == MessageState::kLength;
        if (!over || (promise.ended && m->state != MessageState::kLength)) return wrong("the state is wrong");
      }
      return {};
    });
    QVERIFY2(all.ok(), (where + ": " + sentence(all)).constData());
    store->reset();
    QCOMPARE(askFile(path, "PRAGMA integrity_check"), std::string("ok"));
    QCOMPARE(askFile(path, "SELECT count(*) FROM messages WHERE state = 1"), std::string("0"));
    interrupted = std::stoi(askFile(path, "SELECT count(*) FROM messages WHERE state = 5"));
  }
  qInfo("%d kills: %zu acknowledged turns all there, %d of them interrupted", kKills, kept.size(),
        interrupted);
  QVERIFY(kept.size() > 50);
  QVERIFY(interrupted > 20);
}

QTEST_GUILESS_MAIN(TestKill9)
#include "test_kill9.moc"
