// The router's parts without a model: calibration, the cost of a pass, and what is chosen.
#include <QtTest>
#include <cmath>
#include <random>

#include "engine/speculation/router.h"

using namespace tandem;

namespace {

constexpr auto kOwn = TokenOrigin::kOwnText;
using Steps = std::array<double, VerifyCost::kMostRows + 1>;

// Four rows at a time: 10 ms for the first four, 6 ms more for each four after.
Steps staircase() {
  Steps steps{};
  for (int rows = 1; rows <= VerifyCost::kMostRows; ++rows)
    steps[rows] = 10 + 6 * ((rows - 1) / 4);
  return steps;
}

Steps line(double perRow) {
  Steps steps{};
  for (int rows = 1; rows <= VerifyCost::kMostRows; ++rows)
    steps[rows] = perRow * rows;
  return steps;
}

Draft chain(int nodes, float probability) {
  Draft draft;
  for (int i = 0; i < nodes; ++i)
    draft.add(i, i - 1, probability, kOwn);
  return draft;
}

constexpr DraftBudget kAny = {.nodes = 31, .depth = 31, .tree = true};

}  // namespace

class TestRouter : public QObject {
  Q_OBJECT

 private slots:
  void calibrationFollowsWhatIsSeen() {
    Calibration shared({0.5f, 0.5f});
    RequestCalibration request(shared);
    QCOMPARE(request.probability(0), 0.5f);
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i)
      request.observe(0, random() % 10 < 8);
    QVERIFY(std::abs(request.probability(0) - 0.8f) < 0.08f);
    QCOMPARE(request.probability(1), 0.5f);
    // The next request begins with what was learnt, and follows its own text.
    RequestCalibration next(shared);
    QVERIFY(std::abs(next.probability(0) - 0.8f) < 0.08f);
    for (int i = 0; i < 40; ++i)
      next.observe(0, false);
    QVERIFY(next.probability(0) < 0.2f);
  }

  void costKeepsTheStaircase() {
    VerifyCost cost;
    QVERIFY(!cost.measured());
    QVERIFY(cost.ms(8, 0) > cost.ms(1, 0));
    cost.set(staircase());
    QVERIFY(cost.measured());
    QCOMPARE(cost.ms(4, 0), 10.0);
    QCOMPARE(cost.ms(5, 0), 16.0);
    QCOMPARE(cost.ms(32, 100000), 52.0);
  }

  // Steps that were timed while the machine did something else do not stand out, nor lift those above them.
  void staircaseLeavesOutWhatWasSlow() {
    Steps times{};
    times[1] = 10;
    times[2] = 14;
    times[4] = 12;
    times[8] = 16;
    times[16] = 60;
    times[32] = 70;
    const Steps smooth = smoothStaircase(times);
    QCOMPARE(smooth[2], 12.0);
    QCOMPARE(smooth[3], 12.0);
    QCOMPARE(smooth[6], 14.0);
    QCOMPARE(smooth[9], 21.5);
    QCOMPARE(smooth[16], 32.0);
    QCOMPARE(smooth[24], 48.0);
    QCOMPARE(smooth[32], 64.0);
    QVERIFY(std::is_sorted(smooth.begin(), smooth.end()));
  }

  // A machine that gets slower as a whole keeps its proportions.
  void costFollowsTheMachine() {
    VerifyCost cost;
    cost.set(staircase());
    for (int i = 0; i < 200; ++i) {
      cost.observe(1, 0, 30);
      cost.observe(8, 0, 48);
    }
    QVERIFY(std::abs(cost.ms(1, 0) - 30) < 1.5);
    QVERIFY(std::abs(cost.ms(8, 0) - 48) < 2.5);
    QVERIFY(cost.ms(4, 0) <= cost.ms(5, 0));
  }

  // Rows that cost more in a long context: learnt there, not carried back to a short one.
  void costLearnsTheContext() {
    VerifyCost cost;
    cost.set(staircase());
    std::mt19937 random(2);
    const Steps steps = staircase();
    for (int i = 0; i < 600; ++i) {
      const int rows = 1 + int(random() % 16);
      cost.observe(rows, 4000, steps[rows] + 2.0 * rows);
      cost.observe(rows, 10, steps[rows]);
    }
    QVERIFY(std::abs(cost.ms(1, 10) - 10) < 2);
    QVERIFY(std::abs(cost.ms(8, 10) - 16) < 3);
    QVERIFY(cost.ms(8, 4000) - cost.ms(8, 10) > 8);
    QVERIFY(cost.ms(16, 4000) - cost.ms(16, 10) > 16);
  }

  // One pass that was put aside for a second changes little.
  void costShrugsOffOneBadPass() {
    VerifyCost cost;
    cost.set(staircase());
    cost.observe(1, 0, 1000);
    QVERIFY(cost.ms(1, 0) < 15);
  }

  void staysOnTheStep() {
    SpeculationResources resources;
    resources.verifyCost.set(staircase());
    const Router router(resources);
    RoundReport report;
    // Three nodes fill the step that the certain token has begun; at even odds a further step costs too much.
    const Draft draft = router.choose(chain(31, 0.5f), kAny, DraftShape::Kind::kAuto, 0, report);
    QCOMPARE(draft.size(), 3);
    QVERIFY(report.chosen > 0 && report.candidates[0].nodes == 0);
    QVERIFY(report.reason.find("a chain of 3") == 0);
    // Sure guesses fill every row there is.
    QCOMPARE(router.choose(chain(31, 0.999f), kAny, DraftShape::Kind::kAuto, 0, report).size(), 31);
    QVERIFY(report.candidates[report.chosen].tokensPerSecond() > 2 * report.candidates[0].tokensPerSecond());
  }

  void draftsNothingWhereNothingPays() {
    SpeculationResources resources;
    resources.verifyCost.set(line(5));
    const Router router(resources);
    RoundReport report;
    QVERIFY(router.choose(chain(8, 0.6f), kAny, DraftShape::Kind::kAuto, 0, report).empty());
    QCOMPARE(report.chosen, 0);
    QVERIFY(report.reason.find("nothing drafted pays") == 0);
    QVERIFY(router.choose(Draft(), kAny, DraftShape::Kind::kAuto, 0, report).empty());
    QCOMPARE(report.reason, std::string("no drafter has a guess"));
    // Proposing costs too.
    resources.verifyCost.set(staircase());
    QVERIFY(!router.choose(chain(3, 0.4f), kAny, DraftShape::Kind::kAuto, 0, report).empty());
    QVERIFY(router.choose(chain(3, 0.4f), kAny, DraftShape::Kind::kAuto, 20, report).empty());
  }

  void takesATreeWhereItIsWorthMore() {
    SpeculationResources resources;
    resources.verifyCost.set(staircase());
    const Router router(resources);
    Draft fork;
    for (int branch = 0; branch < 3; ++branch)
      fork.add(branch, -1, 0.3f, kOwn);
    RoundReport report;
    QCOMPARE(router.choose(fork, kAny, DraftShape::Kind::kAuto, 0, report).size(), 3);
    QVERIFY(report.candidates[report.chosen].kind == DraftShape::Kind::kTree);
    DraftBudget chainOnly = kAny;
    chainOnly.tree = false;
    QVERIFY(router.choose(fork, chainOnly, DraftShape::Kind::kChain, 0, report).size() <= 1);
  }

  // A model that drafts is asked for as much as its odds are worth, and not at all beside a sure lookup.
  void dearDraftersAreAskedWhereTheyPay() {
    SpeculationResources resources;
    resources.verifyCost.set(staircase());
    const Router router(resources);
    QVERIFY(router.worthAsking(0.9, 0.5, Draft(), kAny, 0) >= 3);
    QCOMPARE(router.worthAsking(0.9, 12, Draft(), kAny, 0), 0);
    QCOMPARE(router.worthAsking(0.1, 1, Draft(), kAny, 0), 0);
    QCOMPARE(router.worthAsking(0.9, 0.5, chain(31, 0.99f), kAny, 0), 0);
  }

  // Drafting that keeps losing pauses longer and longer: the loss over 512 rounds stays below 3 %.
  void losingDraftsPause() {
    SpeculationResources resources;
    resources.verifyCost.set(line(5));
    Router router(resources);
    double spent = 0, plain = 0;
    int paused = 0;
    for (int round = 0; round < 512; ++round) {
      RoundReport report;
      const bool drafts = router.wantsDraft(report);
      paused += drafts ? 0 : 1;
      if (!drafts) QVERIFY(report.reason.find("pauses") != std::string::npos);
      report.drafted = drafts ? 1 : 0;  // a node that is never accepted
      report.verifyMs = drafts ? 6.5 : 5;
      report.commitMs = 0.05;
      spent += report.verifyMs;
      plain += 5;
      router.observe(report);
    }
    QVERIFY(paused > 400);
    QVERIFY2(spent < 1.03 * plain, qPrintable(QString::number(spent / plain)));
  }

  void winningDraftsGoOn() {
    SpeculationResources resources;
    resources.verifyCost.set(staircase());
    Router router(resources);
    for (int round = 0; round < 200; ++round) {
      RoundReport report;
      QVERIFY(router.wantsDraft(report));
      report.drafted = 3;
      report.accepted = round % 3;
      report.verifyMs = 10;
      report.commitMs = 0.1;
      router.observe(report);
    }
  }
};

QTEST_APPLESS_MAIN(TestRouter)
#include "test_router.moc"
