// The whole program, asked one thing after another by a scripted person: `long_chat MINUTES FOLDER [program
// options]`. What it holds in memory must come to rest: in the last quarter of the time no more than in the
// second. The caches are made small, so that they are full long before. FOLDER keeps a picture of the end.
#include <QFile>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "app/desktop/program.h"
#include "tests/desktop/person.h"

namespace tandem::testing {
namespace {

constexpr int kTurns = 6;             // of a conversation
constexpr double kCacheGib = 0.0625;  // in memory
constexpr std::size_t kLeast = 120;   // answers; the cache is full after a third of them
constexpr double kSlackMib = 8;  // what the allocator and the renderer hold at one time and not at another
// An answer leaves its conversation in the list and its text for drafts, whose store is bounded elsewhere.
constexpr double kMibAnAnswer = 4.0 / 1024;

// Memory that no file backs, MiB.
double heldMib() {
  QFile file(QStringLiteral("/proc/self/smaps_rollup"));
  if (!file.open(QIODevice::ReadOnly)) return 0;
  for (const QByteArray& line : file.readAll().split('\n')) {
    if (line.startsWith("Pss_Anon:")) return line.simplified().split(' ').at(1).toDouble() / 1024;
  }
  return 0;
}

QString question(int number) {
  static const char* const topics[] = {"bread", "rivers", "the moon", "gardens", "old maps", "tea", "snow"};
  return QStringLiteral("Question %1, on %2: what should one know? Say it in a few words.")
      .arg(number)
      .arg(QLatin1String(topics[number % std::size(topics)]));
}

void chat(Person& person, double minutes) {
  using Clock = std::chrono::steady_clock;
  ui::AppSettings& settings = *person.session().settings();
  settings.setCacheMemoryGib(kCacheGib);
  settings.setMaxTokens(24);
  person.wait(
      "the model is loaded", [&] { return person.session().models()->ready(); }, 120'000);
  const auto end = Clock::now() + std::chrono::duration<double, std::ratio<60>>(minutes);
  std::vector<double> held;
  ui::Chat& chat = *person.session().chat();
  while (held.size() < kLeast || Clock::now() < end) {
    const int number = static_cast<int>(held.size());
    if (number % kTurns == 0) chat.startNew();
    chat.send(question(number));
    const int messages = 2 * (number % kTurns + 1);
    if (!QTest::qWaitFor(
            [&] { return person.session().messages()->count() == messages && !chat.answering(); }, 900'000))
      person.expect(false, "question " + QString::number(number) + " is answered");
    held.push_back(heldMib());
  }
  person.shoot("long-chat");
  const std::size_t quarter = held.size() / 4;
  const double early = *std::max_element(held.begin() + quarter, held.begin() + 2 * quarter);
  const double late = *std::max_element(held.end() - quarter, held.end());
  std::printf("MiB held:");
  for (std::size_t i = 0; i < 12; ++i)
    std::printf(" %.1f", held[i * (held.size() - 1) / 11]);
  std::printf("\n");
  std::fflush(stdout);
  person.expect(late < early + kSlackMib + kMibAnAnswer * static_cast<double>(held.size()) / 2,
                QString("after %1 answers %2 MiB are about as much as the %3 MiB of before")
                    .arg(held.size())
                    .arg(late)
                    .arg(early));
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  using namespace tandem;
  if (argc < 3) {
    std::fprintf(stderr, "usage: long_chat MINUTES FOLDER [program options]\n");
    return 2;
  }
  const double minutes = QByteArray(argv[1]).toDouble();
  const QString folder = argv[2];
  argv[2] = argv[0];
  return desktop::runProgram(argc - 2, argv + 2, [&](desktop::Composition& composition) {
    QTimer::singleShot(0, &composition.session(), [&composition, folder, minutes] {
      testing::Person person(composition, folder);
      testing::chat(person, minutes);
      composition.window()->close();
    });
  });
}
