// Pictures of every view, light and dark, kept in the build folder for people to look at. What they show is
// also checked for being drawn at all: a view whose picture is one flat colour fails.
#include <QDir>
#include <QGuiApplication>
#include <QSet>
#include <QTest>

#include "tests/ui/shown_listing.h"
#include "tests/ui/window_fixture.h"

namespace tandem::testing {
namespace {

const char* const kAnswer =
    "Walk the vector once and remember where the largest value so far stands:\n\n"
    "```cpp\n"
    "int argmax(const std::vector<float>& values) {\n"
    "    if (values.empty()) return -1;\n"
    "    int best = 0;\n"
    "    for (int i = 1; i < values.size(); ++i)\n"
    "        if (values[i] > values[best]) best = i;\n"
    "    return best;\n"
    "}\n"
    "```\n\n"
    "Equal values keep the first index, because the comparison is strict.";

bool isDrawn(const QImage& image) {
  QSet<QRgb> colours;
  for (int y = 0; y < image.height(); y += 3) {
    for (int x = 0; x < image.width(); x += 3) {
      colours.insert(image.pixel(x, y));
    }
  }
  return colours.size() > 16;
}

}  // namespace

class TestShots : public QObject {
  Q_OBJECT

 private slots:
  void everyView_data() {
    QTest::addColumn<int>("theme");
    QTest::addRow("light") << int(ui::AppSettings::Light);
    QTest::addRow("dark") << int(ui::AppSettings::Dark);
  }

  void everyView() {
    QFETCH(int, theme);
    WindowFixture fixture;
    theme_ = QTest::currentDataTag();
    fixture.session().settings()->setTheme(ui::AppSettings::Theme(theme));
    service::ModelInfo model = *fixture.backend.model();
    model.path = "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
    model.quantization = "Q4_1";
    model.architecture = "llama";
    model.parameters = 134'515'008;
    model.fileBytes = 98'362'432;
    model.contextLength = 8192;
    model.kernelSet = "avx2";
    model.threads = 2;
    fixture.backend.setModel(model);
    fixture.reopen();
    FakeAnswer shown = says(kAnswer, 400, 2);
    shown.prefillMs = 60;
    fixture.backend.setAnswer(shown);

    shoot(fixture, "empty");
    QVERIFY(fixture.ask("What is a hash table?"));
    fixture.chat().startNew();
    QVERIFY(fixture.ask("Bread for six people"));
    fixture.session().setPinned(fixture.chat().conversationId(), true);
    fixture.chat().startNew();
    fixture.chat().send(
        "Write a C++ function that returns the index of the largest element, or -1 when the vector is "
        "empty.");
    QVERIFY(fixture.until([&] { return fixture.chat().phase() == ui::Chat::Writing; }));
    QTest::qWait(200);
    shoot(fixture, "writing");
    QVERIFY(fixture.until([&] { return !fixture.chat().answering(); }));
    fixture.chat().regenerate(fixture.session().messages()->idAt(1));
    QVERIFY(fixture.until([&] { return fixture.chat().answering(); }));
    QVERIFY(fixture.until([&] { return !fixture.chat().answering(); }));
    fixture.session().settings()->setTintOrigins(true);
    fixture.find("composerText")->setProperty("text", "Now the same for the smallest element, as a template");
    QVERIFY(fixture.until([&] { return fixture.chat().draftTokens() >= 0; }));
    shoot(fixture, "chat");
    fixture.click("panelToggle");
    fixture.find("searchField")->setProperty("text", "vector");
    QVERIFY(fixture.until(
        [&] { return fixture.session().found()->settled() && fixture.session().found()->count() > 0; }));
    shoot(fixture, "search-and-panel");
    fixture.click("panelToggle");
    fixture.find("searchField")->setProperty("text", QString());
    fixture.chat().startNew();
    fixture.backend.setAnswer(says(
        "مرحبا! هذا نص من **اليمين** إلى اليسار مع code داخله.\n\n你好，世界。これは日本語の文章です。\n\n"
        "| 語 | word |\n|---|---|\n| 水 | water |\n| ماء | water |\n\n> Zitat, quote, اقتباس\n"));
    QVERIFY(fixture.ask("اكتب لي جملة قصيرة، 然后用中文"));
    shoot(fixture, "languages");
    fixture.click("railCaches");
    shoot(fixture, "caches-empty");
    fixture.backend.setListing(shownListing());
    QVERIFY(fixture.find("proveButton"));
    shoot(fixture, "caches");
    fixture.click("railModels");
    shoot(fixture, "models");
    fixture.click("railSettings");
    shoot(fixture, "settings");
  }

 private:
  void shoot(WindowFixture& fixture, const QString& view) {
    QTest::qWait(150);
    const QImage image = fixture.window()->grabWindow();
    QVERIFY2(isDrawn(image), qPrintable(view));
    QDir().mkpath(QStringLiteral(TANDEM_SHOTS));
    const double ratio = fixture.window()->effectiveDevicePixelRatio();
    const QString scale = ratio == 1.0 ? QString() : QStringLiteral("@%1").arg(ratio);
    QVERIFY(image.save(QStringLiteral(TANDEM_SHOTS "/%1-%2%3.png").arg(view, theme_, scale)));
  }

  QString theme_;
};

}  // namespace tandem::testing

int main(int argc, char** argv) {
  tandem::testing::TestShots test;
  return tandem::testing::runWindowTest(test, argc, argv);
}

#include "test_shots.moc"
