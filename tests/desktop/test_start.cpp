// Starting the window: the places on disk, one window per home, and a window that is on a screen.
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <cstdlib>

#include "app/desktop/single_instance.h"
#include "app/desktop/window_place.h"
#include "app/places/places.h"

namespace tandem::testing {

class TestStart : public QObject {
  Q_OBJECT

 private slots:
  void placesBelowHome() {
    const auto places = findPlaces(std::filesystem::path("/tmp/somewhere"));
    QVERIFY(places.ok());
    QCOMPARE(places.value().database().string(), std::string("/tmp/somewhere/data/tandem.db"));
    QCOMPARE(places.value().models().string(), std::string("/tmp/somewhere/data/models"));
    QCOMPARE(places.value().settingsFile().string(), std::string("/tmp/somewhere/config/settings.ini"));
    QVERIFY(!findPlaces(std::filesystem::path()).ok());
  }

  void placesByTheSpecification() {
    qputenv("HOME", "/home/anna");
    qputenv("XDG_CONFIG_HOME", "/etc/anna");
    qputenv("XDG_DATA_HOME", "relative/is/ignored");
    qunsetenv("XDG_CACHE_HOME");
    qunsetenv("XDG_STATE_HOME");
    const auto places = findPlaces(std::nullopt);
    QVERIFY(places.ok());
    QCOMPARE(places.value().config.string(), std::string("/etc/anna/tandem"));
    QCOMPARE(places.value().data.string(), std::string("/home/anna/.local/share/tandem"));
    QCOMPARE(places.value().cache.string(), std::string("/home/anna/.cache/tandem"));
    QCOMPARE(places.value().state.string(), std::string("/home/anna/.local/state/tandem"));
    qunsetenv("HOME");
    const auto nowhere = findPlaces(std::nullopt);
    QVERIFY(!nowhere.ok());
    QVERIFY(nowhere.error().message.find("--home") != std::string::npos);
  }

  void foldersThatCannotBeMadeAreNamed() {
    const auto places = findPlaces(std::filesystem::path("/dev/null/below"));
    QVERIFY(places.ok());
    const Status made = makePlaces(places.value());
    QVERIFY(!made.ok());
    QVERIFY(made.error().message.find("/dev/null/below") != std::string::npos);
  }

  void theSecondStartRaisesTheFirst() {
    QTemporaryDir home;
    const Places places = findPlaces(home.path().toStdString()).value();
    QVERIFY(makePlaces(places).ok());
    int raised = 0;
    auto first = std::make_unique<desktop::SingleInstance>(places);
    connect(first.get(), &desktop::SingleInstance::raiseAsked, this, [&] { ++raised; });
    QVERIFY(first->claim().value() == desktop::SingleInstance::Outcome::kFirst);

    // The further start is another process; its answer comes from this one's event loop.
    QProcess second;
    second.start(QCoreApplication::applicationFilePath(), {"--claim", home.path()});
    QVERIFY(QTest::qWaitFor([&] { return second.state() == QProcess::NotRunning; }, 10000));
    QCOMPARE(second.readAllStandardOutput().trimmed(), QByteArray("handed over"));
    QCOMPARE(raised, 1);

    first.reset();
    desktop::SingleInstance next(places);
    QVERIFY(next.claim().value() == desktop::SingleInstance::Outcome::kFirst);
  }

  // Two starts at the same time, many times: always one first, and the other finds it.
  void twoAtOnceAreOneFirst() {
    for (int round = 0; round < 20; ++round) {
      QTemporaryDir home;
      QVERIFY(makePlaces(findPlaces(home.path().toStdString()).value()).ok());
      QProcess a, b;
      a.start(QCoreApplication::applicationFilePath(), {"--claim-and-serve", home.path()});
      b.start(QCoreApplication::applicationFilePath(), {"--claim-and-serve", home.path()});
      QVERIFY(a.waitForFinished(20000) && b.waitForFinished(20000));
      QList<QByteArray> outcomes{a.readAllStandardOutput().trimmed(), b.readAllStandardOutput().trimmed()};
      std::sort(outcomes.begin(), outcomes.end());
      QCOMPARE(outcomes, (QList<QByteArray>{"first", "handed over"}));
    }
  }

  void aWindowIsPutOntoAScreen() {
    const QList<QRect> screens{{0, 0, 1920, 1080}, {1920, 0, 1280, 1024}};
    const auto place = [&](QRect rect) { return desktop::clampToScreens(rect, screens); };
    QCOMPARE(place({100, 100, 1280, 820}), QRect(100, 100, 1280, 820));
    QCOMPARE(place({1900, 900, 1280, 820}), QRect(1920, 204, 1280, 820));
    QCOMPARE(place({9000, 9000, 1280, 820}), QRect(640, 260, 1280, 820));
    QCOMPARE(place({-5000, -10, 800, 600}), QRect(0, 0, 800, 600));
    QCOMPARE(place({0, 0, 5000, 4000}), QRect(0, 0, 1920, 1080));
  }
};

// A further start of the program, as far as claiming goes.
int claim(const QStringList& arguments) {
  desktop::SingleInstance instance(findPlaces(arguments[2].toStdString()).value());
  const auto outcome = instance.claim();
  if (!outcome.ok()) {
    std::puts("failed");
    return 1;
  }
  const bool first = outcome.value() == desktop::SingleInstance::Outcome::kFirst;
  std::puts(first ? "first" : "handed over");
  if (first && arguments[1] == "--claim-and-serve") {
    QObject::connect(&instance, &desktop::SingleInstance::raiseAsked, qApp, &QCoreApplication::quit,
                     Qt::QueuedConnection);
    QTimer::singleShot(15000, qApp, &QCoreApplication::quit);
    return QCoreApplication::exec();
  }
  return 0;
}

}  // namespace tandem::testing

int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  const QStringList arguments = QCoreApplication::arguments();
  if (arguments.size() == 3 && arguments[1].startsWith("--claim")) {
    return tandem::testing::claim(arguments);
  }
  tandem::testing::TestStart test;
  return QTest::qExec(&test, argc, argv);
}

#include "test_start.moc"
