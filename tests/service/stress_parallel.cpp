// Sixteen clients send fifty requests each to one service that runs sixteen at once, and cancel some at odd
// moments: each gets its own answer and nothing else. Run under TSan; needs no Qt.
// tandem_stress_parallel RECIPE [REQUESTS]: exit status 0 when every whole answer is the one alone and every
// cut one its beginning.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
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

constexpr int kClients = 16;
constexpr int kTokens = 16;

std::atomic<int> failures = 0, whole = 0, cut = 0;

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

// Prompts of many lengths, some plain, some drafted, some sampled.
GenerateRequest request(int client, int number) {
  GenerateRequest result;
  const std::string word = "c" + std::to_string(client) + "r" + std::to_string(number) + " ";
  std::string text;
  for (int i = 0; i <= (client * 5 + number) % 12; ++i)
    text += word;
  result.messages = {{"user", text}};
  result.maxTokens = kTokens;
  result.sampling.temperature = number % 3 == 1 ? 0.9f : 0.0f;
  result.sampling.seed = static_cast<std::uint64_t>(client * 1000 + number);
  result.speculation = number % 2 == 0
                           ? SpeculationOptions::tree(TokenOrigin::kRandom, 31)
                           : SpeculationOptions::of({TokenOrigin::kOwnText}, {DraftShape::Kind::kChain, 7});
  return result;
}

using Ids = std::vector<TokenId>;

void client(EngineService& service, int number, const std::vector<Ids>& expected) {
  std::minstd_rand random(static_cast<unsigned>(number) + 1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    Answer answer;
    const auto handle = service.submit(request(number, static_cast<int>(i)), answer.sink());
    if (random() % 3 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
      handle->cancel();
    }
    check(answer.waitForEnd(std::chrono::minutes(5)), "every answer ends");
    check(answer.lateEvents() == 0, "nothing comes after the end");
    const auto finished = answer.last<FinishedEvent>();
    check(finished.has_value(), "no answer fails");
    if (!finished) continue;
    const Ids ids = idsOf(answer);
    if (finished->stats.finish != FinishReason::kCancelled) {
      ++whole;
      check(ids == expected[i], "an answer among others is the one alone");
    } else {
      ++cut;
      check(ids.size() <= expected[i].size() && std::equal(ids.begin(), ids.end(), expected[i].begin()),
            "a cut answer is the beginning of its own");
    }
  }
}

void load(EngineService& service, const std::string& model, int threads) {
  Loading loading;
  service.loadModel(model, {.threads = threads}, loading.sink());
  check(loading.waitForEnd() && loading.last<ModelInfo>(), "the model loads");
}

std::vector<std::vector<Ids>> answersAlone(const std::string& model, int requests) {
  EngineService service;
  load(service, model, 1);
  std::vector<std::vector<Ids>> answers(kClients);
  for (int i = 0; i < kClients; ++i) {
    for (int number = 0; number < requests; ++number) {
      Answer answer;
      service.submit(request(i, number), answer.sink());
      check(answer.waitForEnd(), "an answer alone ends");
      answers[i].push_back(idsOf(answer));
    }
  }
  return answers;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int requests = argc > 2 ? std::atoi(argv[2]) : 50;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tandem-parallel-" + std::to_string(std::random_device()()));
  std::filesystem::create_directories(folder);
  const std::string model = (folder / "text.gguf").string();
  check(writeTextModel(argv[1], model).ok(), "the model is written");

  const auto expected = answersAlone(model, requests);
  std::set<Ids> distinct;
  for (const auto& ofClient : expected)
    distinct.insert(ofClient.begin(), ofClient.end());
  check(distinct.size() * 10 >= static_cast<std::size_t>(kClients * requests) * 9,
        "answers are distinct, so that one of another request is noticed");
  {
    EngineService service({.parallel = kClients});
    load(service, model, 2);
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i)
      clients.emplace_back([&, i] { client(service, i, expected[i]); });
    for (std::thread& thread : clients)
      thread.join();
  }
  check(whole > 0 && cut > 0, "some answers are whole and some cut");
  std::filesystem::remove_all(folder);
  std::printf("%d clients, %d requests each: %d whole, %d cut, %d distinct, %d faults\n", kClients, requests,
              whole.load(), cut.load(), static_cast<int>(distinct.size()), failures.load());
  return failures == 0 ? 0 : 1;
}
