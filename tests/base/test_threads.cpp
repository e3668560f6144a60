// The thread pool, how many CPUs there are for it, and how the number of threads follows the machine.
#include <sched.h>

#include <QTemporaryDir>
#include <QtTest>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "engine/base/thread_pool.h"
#include "engine/base/thread_tuner.h"

using namespace tandem;

namespace {

// A machine on paper: a pass takes `ms[threads]`, and the clock moves by that and by what lies between two
// passes.
struct Machine {
  double now = 0;
  int cpus = 4;
  std::map<int, double> ms;

  MachineProbe probe() {
    return {[this] { return now; }, [this] { return cpus; }};
  }
  // Runs plain passes for so many seconds; returns how many there were with each number of threads.
  std::map<int, int> run(ThreadTuner& tuner, double seconds) {
    std::map<int, int> passes;
    for (const double end = now + seconds * 1000; now < end;) {
      const int threads = tuner.begin();
      ++passes[threads];
      now += ms.at(threads);
      tuner.end();
    }
    return passes;
  }
};

}  // namespace

class TestThreads : public QObject {
  Q_OBJECT

  int cpus(const char* membership) {
    std::ofstream(file("membership")) << membership;
    return availableCpus(dir_.path().toStdString(), file("membership"));
  }
  std::string file(const QString& name) const { return (dir_.path() + "/" + name).toStdString(); }
  void quota(const QString& group, const char* text) {
    QVERIFY(QDir(dir_.path()).mkpath("." + group));
    std::ofstream(file(group + "/cpu.max")) << text << "\n";
  }

  QTemporaryDir dir_;

 private slots:
  void aLoopIsDoneOnceWithAnyNumberOfThreads() {
    ThreadPool pool(4);
    QCOMPARE(pool.size(), 4);
    std::vector<std::atomic<int>> seen(1000);
    int loops = 0;
    for (int i = 0; i < 100; ++i) {
      pool.useThreads(i % 6);
      QCOMPARE(pool.threads(), std::clamp(i % 6, 1, 4));
      pool.parallelFor(1000, 3, [&](int begin, int end) {
        for (int k = begin; k < end; ++k)
          ++seen[k];
      });
      ++loops;
    }
    for (const auto& count : seen)
      QCOMPARE(count.load(), loops);
  }

  // A worker that is not to take part sleeps through the loops, as soon as it has noticed.
  void onlyTheNumberThatIsUsedTakesPart() {
    ThreadPool pool(4);
    for (const int threads : {3, 1, 4, 2}) {
      pool.useThreads(threads);
      int right = 0;  // loops in a row
      for (int loop = 0; loop < 500 && right < 5; ++loop) {
        std::mutex mutex;
        std::set<std::thread::id> ids;
        pool.parallelFor(32, 1, [&](int, int) {
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          const std::lock_guard lock(mutex);
          ids.insert(std::this_thread::get_id());
        });
        right = static_cast<int>(ids.size()) <= threads ? right + 1 : 0;
      }
      QVERIFY2(right == 5, qPrintable(QString::number(threads)));
    }
  }

  void aPoolEndsWhileSomeOfItSleep() {
    for (int i = 0; i < 50; ++i) {
      ThreadPool pool(5);
      pool.useThreads(1 + i % 5);
      pool.parallelFor(10, 1, [](int, int) {});
    }
  }

  void quotasBoundTheCpus() {
    cpu_set_t set;
    QCOMPARE(sched_getaffinity(0, sizeof set, &set), 0);
    const int all = CPU_COUNT(&set);
    QCOMPARE(cpus(""), all);
    for (const auto& [text, share] :
         {std::pair("50000 100000", 1), std::pair("100000 100000", 1), std::pair("765000 100000", 8),
          std::pair("max 100000", all), std::pair("1e300 1", all), std::pair("nonsense", all)}) {
      quota("", text);
      QCOMPARE(cpus("0::/\n"), std::min(share, all));
    }
    // The quota of a group holds for those below it, whatever theirs are.
    quota("", "max 100000");
    quota("/a", "100000 100000");
    quota("/a/b", "900000 100000");
    QCOMPARE(cpus("0::/a/b/c\n"), 1);
    QCOMPARE(cpus("1:cpu:/x\n0::/a\n"), 1);
    QCOMPARE(cpus("0::/other\n"), all);
  }

  void anAffinityMaskBoundsTheCpus() {
    cpu_set_t all, one;
    QCOMPARE(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    QCOMPARE(sched_setaffinity(0, sizeof one, &one), 0);
    const int found = availableCpus();
    QCOMPARE(sched_setaffinity(0, sizeof all, &all), 0);
    QCOMPARE(found, 1);
  }

  void asLongAsThePaceHoldsNothingIsTried() {
    Machine machine{.ms = {{4, 10}}};
    ThreadTuner tuner(4, 4, machine.probe());
    machine.run(tuner, 600);  // another number of threads would throw
    machine.ms[4] = 14;       // 1.4 times
    machine.run(tuner, 600);
    QCOMPARE(tuner.threads(), 4);
  }

  void aNeighbourIsNoticedWhenItComesAndWhenItLeaves() {
    const std::map<int, double> quiet = {{1, 36}, {2, 19}, {3, 13}, {4, 10}};
    const std::map<int, double> busy = {{1, 36}, {2, 20}, {3, 14}, {4, 40}};
    Machine machine{.ms = quiet};
    ThreadTuner tuner(4, 4, machine.probe());
    machine.run(tuner, 30);
    machine.ms = busy;
    machine.run(tuner, 5);
    QCOMPARE(tuner.threads(), 3);
    machine.ms = quiet;
    machine.run(tuner, 30);
    QCOMPARE(tuner.threads(), 4);
  }

  void aFewSlowPassesAreNoReason() {
    Machine machine{.ms = {{4, 10}}};
    ThreadTuner tuner(4, 4, machine.probe());
    machine.run(tuner, 60);
    for (int i = 0; i < 100; ++i) {
      machine.ms[4] = 500;
      machine.run(tuner, 0.5);  // one pass
      machine.ms[4] = 10;
      machine.run(tuner, 0.15);  // fifteen
    }
    QCOMPARE(tuner.threads(), 4);
  }

  // Where no number helps, the trials become rare: of half an hour's passes few are another number's.
  void trialsInVainBecomeRare() {
    Machine machine{.ms = {{1, 40}, {2, 21}, {3, 14}, {4, 10}}};
    ThreadTuner tuner(4, 4, machine.probe());
    machine.run(tuner, 60);
    for (auto& [threads, ms] : machine.ms)
      ms *= 2;
    const std::map<int, int> passes = machine.run(tuner, 1800);
    QCOMPARE(tuner.threads(), 4);
    QVERIFY(passes.at(2) >= 7 && passes.at(2) <= 80);
    QVERIFY(passes.at(4) > 85000);
  }

  // The same for a neighbour that does not leave, or CPUs of which two are one core.
  void unusedCpusAreTriedSeldom() {
    Machine machine{.cpus = 2, .ms = {{1, 10}, {2, 11}}};
    ThreadTuner tuner(1, 2, machine.probe());
    const std::map<int, int> passes = machine.run(tuner, 1800);
    QCOMPARE(tuner.threads(), 1);
    QVERIFY(passes.at(2) >= 7 && passes.at(2) <= 80);
  }

  void aQuotaThatShrinksIsObeyed() {
    Machine machine{.ms = {{1, 36}, {2, 19}, {3, 13}, {4, 10}}};
    ThreadTuner tuner(4, 4, machine.probe());
    machine.run(tuner, 30);
    machine.cpus = 2;
    machine.ms = {{1, 36}, {2, 20}, {4, 60}};  // three would throw
    machine.run(tuner, 60);
    QCOMPARE(tuner.threads(), 2);
  }
};

QTEST_APPLESS_MAIN(TestThreads)
#include "test_threads.moc"
