// The whole program with the real engine and store, driven by a scripted person, in two processes on one
// home: `two_lives first|second FOLDER [program options]`. The first sends, sees text stream, stops,
// continues, regenerates, switches versions, searches and closes; the second finds all of it. FOLDER keeps
// the pictures and what the first has seen.
#include <time.h>

#include <QFile>
#include <QGuiApplication>
#include <QTimer>

#include "app/desktop/program.h"
#include "tests/desktop/person.h"

namespace tandem::testing {
namespace {

using ui::Chat;

// Processor time of this thread since the process began, which other programs on the machine hardly change.
double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void waitForEnd(Person& person) {
  person.wait(
      "the answer ends", [&] { return !person.session().chat()->answering(); }, 120'000);
}

void note(const QString& folder, const QString& name, const QString& text) {
  QFile file(folder + "/" + name);
  if (file.open(QIODevice::WriteOnly)) {
    file.write(text.toUtf8());
  }
}

QString noted(const QString& folder, const QString& name) {
  QFile file(folder + "/" + name);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QStringLiteral("(missing)");
}

void firstLife(Person& person, const QString& folder) {
  Chat& chat = *person.session().chat();
  person.wait(
      "the model is loaded", [&] { return person.session().models()->ready(); }, 120'000);
  person.shoot("1-empty");

  person.click("composerText");
  person.type("What is the capital of Australia?");
  person.wait("the tokens of the draft are counted", [&] { return chat.draftTokens() > 0; });
  person.key(Qt::Key_Return);
  // So short an answer may be over before anyone looks; that text streams is seen of the story below.
  person.wait(
      "the question is answered",
      [&] {
        return person.session().messages()->count() == 2 && !chat.answering() && !person.text(-1).isEmpty();
      },
      120'000);
  person.expect(person.text(-1).contains("Canberra"), "the answer names Canberra");
  person.find("statisticsLine");
  note(folder, "first.txt", person.text(-1));
  person.shoot("2-answered");

  person.click("regenerateButton");
  person.find("versionText");  // of the second version, from its beginning
  waitForEnd(person);
  person.expect(person.find("versionText")->property("text").toString() == "2 / 2", "there are two versions");
  note(folder, "regenerated.txt", person.text(-1));
  person.shoot("3-regenerated");
  person.click("versionBefore");
  person.wait("the first version is shown again",
              [&] { return person.text(-1) == noted(folder, "first.txt"); });
  person.click("versionNext");
  person.wait("the second version is shown",
              [&] { return person.text(-1) == noted(folder, "regenerated.txt"); });

  person.click("newButton");
  person.click("composerText");
  person.type("Write a long story about a lighthouse keeper and a whale.");
  person.key(Qt::Key_Return);
  person.wait("the story streams",
              [&] { return chat.phase() == Chat::Writing && person.text(-1).size() > 80; });
  person.shoot("4-streaming");
  person.key(Qt::Key_Escape);
  waitForEnd(person);
  person.find("continueButton");
  person.expect(person.text(-1).size() > 80, "what was written before Esc stays");
  note(folder, "stopped.txt", person.text(-1));
  person.shoot("5-stopped");

  person.key(Qt::Key_F, Qt::ControlModifier);
  person.type("Canberra");
  person.wait("the search finds it", [&] { return person.session().found()->count() > 0; });
  person.shoot("6-search");
  person.click("searchHit");
  person.wait("the hit opens its conversation", [&] {
    return chat.title().contains("Australia") && person.session().messages()->count() == 2;
  });
}

// Types a search and waits for the hits that belong to it.
void searchFor(Person& person, const QString& text) {
  person.key(Qt::Key_F, Qt::ControlModifier);
  person.key(Qt::Key_A, Qt::ControlModifier);
  person.type(text);
  person.wait("the search for " + text + " finds something", [&] {
    const auto* found = person.session().found();
    return found->settled() && found->query() == text && found->count() > 0;
  });
}

void secondLife(Person& person, const QString& folder, double startSeconds) {
  Chat& chat = *person.session().chat();
  person.expect(startSeconds < 1, QString("the window took under a second (%1)").arg(startSeconds));
  person.wait("both conversations are listed",
              [&] { return person.session().conversations()->count() == 2; });
  person.wait(
      "the model of the last time is loaded", [&] { return person.session().models()->ready(); }, 120'000);
  person.click("conversationRow");
  person.wait("the conversation opens", [&] { return person.session().messages()->count() == 2; });
  searchFor(person, "Australia");
  person.click("searchHit");
  person.wait("the conversation about Australia opens", [&] { return chat.title().contains("Australia"); });
  // A hit in an answer shows the version that holds it, so either may be the chosen one now.
  const auto shows = [&](const QString& version, const QString& file) {
    const QQuickItem* label = person.find("versionText");
    return label->property("text").toString() == version && person.text(-1) == noted(folder, file);
  };
  if (person.find("versionText")->property("text").toString() == "1 / 2") person.click("versionNext");
  person.wait("the second version is as it was", [&] { return shows("2 / 2", "regenerated.txt"); });
  person.click("versionBefore");
  person.wait("the first version is as it was", [&] { return shows("1 / 2", "first.txt"); });
  person.shoot("7-found-again");

  searchFor(person, "lighthouse");
  person.click("searchHit");
  const QString stopped = noted(folder, "stopped.txt");
  person.wait("the stopped story is as it was", [&] { return person.text(-1) == stopped; });
  person.click("continueButton");
  person.wait("it goes on from there",
              [&] { return person.text(-1).size() > stopped.size() && person.text(-1).startsWith(stopped); });
  person.key(Qt::Key_Escape);
  waitForEnd(person);
  person.shoot("8-continued");
}

// What both lives left in the caches is listed, and proves itself.
void lookAtCaches(Person& person) {
  ui::CacheListModel& caches = *person.session().caches();
  const auto first = [&](int role) { return caches.data(caches.index(0), role).toString(); };
  person.key(Qt::Key_4, Qt::ControlModifier);
  person.wait("both tiers are listed", [&] { return caches.files() > 0 && caches.count() > caches.files(); });
  person.key(Qt::Key_Down);
  caches.sortBy(ui::CacheListModel::Size);  // the largest first
  for (int row = 0; row < 2; ++row)
    caches.prove(caches.keyAt(row));
  person.wait(
      "the largest entry is proved",
      [&] { return first(ui::CacheListModel::StateTextRole) == QStringLiteral("Proven"); }, 120'000);
  person.shoot("9-caches-light");
  person.session().settings()->setTheme(ui::AppSettings::Dark);
  person.shoot("9-caches-dark");
}

}  // namespace
}  // namespace tandem::testing

int main(int argc, char** argv) {
  using namespace tandem;
  if (argc < 3) {
    std::fprintf(stderr, "usage: two_lives first|second FOLDER [program options]\n");
    return 2;
  }
  const QString life = argv[1];
  const QString folder = argv[2];
  argv[2] = argv[0];
  return desktop::runProgram(argc - 2, argv + 2, [&](desktop::Composition& composition) {
    const double startSeconds = testing::threadSeconds();
    QTimer::singleShot(0, &composition.session(), [&composition, life, folder, startSeconds] {
      testing::Person person(composition, folder);
      if (life == "first") {
        testing::firstLife(person, folder);
      } else {
        testing::secondLife(person, folder, startSeconds);
        testing::lookAtCaches(person);
      }
      composition.window()->close();
    });
  });
}
