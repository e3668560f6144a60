// Several threads use one service at once: answers of different lengths, cancels at odd moments, counts,
// loads that succeed and fail, and a service that goes in the middle of it. Run under TSan; needs no Qt.
// tandem_stress_service RECIPE: exit status 0 when every sink had exactly one last event and every whole
// answer was the right one.
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "app/service/engine_service.h"
#include "tests/service/collector.h"
#include "tests/service/text_model.h"

namespace {

using namespace tandem;
using namespace tandem::service;
using namespace tandem::test;

constexpr int kThreads = 4;
constexpr int kRounds = 12;

std::atomic<int> failures = 0;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

GenerateRequest request(int number, int tokens) {
  GenerateRequest result;
  result.messages = {{"user", "Number " + std::to_string(number)}};
  result.maxTokens = tokens;
  return result;
}

// What number `number` is answered with, when nothing else goes on.
std::vector<std::vector<TokenId>> expectedAnswers(EngineService& service, int count, int tokens) {
  std::vector<std::vector<TokenId>> expected;
  for (int i = 0; i < count; ++i) {
    Answer answer;
    service.submit(request(i, tokens), answer.sink());
    check(answer.waitForEnd(), "an answer alone ends");
    expected.push_back(idsOf(answer));
  }
  return expected;
}

void use(EngineService& service, int number, const std::string& model, const std::vector<TokenId>& expected) {
  std::minstd_rand random(static_cast<unsigned>(number) + 1);
  for (int round = 0; round < kRounds; ++round) {
    Answer answer;
    const auto handle = service.submit(request(number, static_cast<int>(expected.size())), answer.sink());
    const bool cancels = random() % 2 == 0;
    if (cancels) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
      handle->cancel();
    }
    service.countTokens(request(number, 1), [](Result<int> result) {
      check(result.ok() || result.error().code == ErrorCode::kCancelled,
            "a count has a number or is replaced");
    });
    if (round % 4 == number % 4) {
      service.loadModel(round % 8 < 4 ? model : model + ".missing", {.threads = 2}, [](LoadEvent) {});
    }
    check(service.model().has_value(), "there is always a model");
    check(answer.waitForEnd(std::chrono::minutes(2)), "every answer ends");
    check(answer.lateEvents() == 0, "nothing comes after the end");
    const auto finished = answer.last<FinishedEvent>();
    check(finished.has_value(), "no answer fails");
    const std::vector<TokenId> ids = idsOf(answer);
    if (finished && finished->stats.finish != FinishReason::kCancelled) {
      check(ids == expected, "an answer among others is the one alone");
    } else {
      check(std::equal(ids.begin(), ids.end(), expected.begin()), "a cut answer is the beginning of it");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tandem-stress-" + std::to_string(std::random_device()()));
  std::filesystem::create_directories(folder);
  const std::string model = (folder / "text.gguf").string();
  check(writeTextModel(argv[1], model).ok(), "the model is written");

  std::vector<Answer> late(3);
  {
    EngineService service;
    Loading loading;
    service.loadModel(model, {.threads = 2}, loading.sink());
    check(loading.waitForEnd() && loading.last<ModelInfo>(), "the model loads");
    const auto expected = expectedAnswers(service, kThreads, 20);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { use(service, i, model, expected[static_cast<std::size_t>(i)]); });
    }
    for (std::thread& thread : threads)
      thread.join();
    for (Answer& answer : late)
      service.submit(request(9, 0), answer.sink());
  }
  for (const Answer& answer : late)
    check(answer.ended(), "the service's end ends every answer");
  std::filesystem::remove_all(folder);
  std::printf("%d threads, %d rounds each, %d faults\n", kThreads, kRounds, failures.load());
  return failures == 0 ? 0 : 1;
}
