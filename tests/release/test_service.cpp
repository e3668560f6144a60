// Release identity through the service: the pieces of thirteen fixed requests, joined, are the answers of the
// last release, and so are their ends and the bits of their logits (docs/release-identity.md).
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "app/service/engine_service.h"
#include "engine/kernels/arithmetic.h"
#include "tests/service/collector.h"
#include "tests/service/text_model.h"

using namespace tandem;
using namespace tandem::service;
using namespace tandem::test;
using Json = nlohmann::json;

namespace {

Json readJson(const char* name) {
  std::ifstream file(std::string(TANDEM_RELEASE) + "/" + name);
  return Json::parse(file);
}

SamplingParams samplingOf(const Json& json) {
  SamplingParams p;
  p.temperature = json.value("temp", p.temperature);
  p.topK = json.value("top_k", p.topK);
  p.topP = json.value("top_p", p.topP);
  p.minP = json.value("min_p", p.minP);
  p.seed = json.value("seed", p.seed);
  p.repetitionPenalty = json.value("repetition_penalty", p.repetitionPenalty);
  p.presencePenalty = json.value("presence_penalty", p.presencePenalty);
  p.frequencyPenalty = json.value("frequency_penalty", p.frequencyPenalty);
  p.penaltyWindow = json.value("penalty_window", p.penaltyWindow);
  p.noRepeatNgramSize = json.value("no_repeat_ngram_size", p.noRepeatNgramSize);
  return p;
}

GenerateRequest requestOf(const Json& json) {
  GenerateRequest request;
  if (json.value("raw", false)) {
    request.rawPrompt = json.at("prompt");
  } else {
    request.messages = {{"user", json.at("prompt")}};
  }
  request.maxTokens = json.at("tokens");
  if (json.contains("sampling")) request.sampling = samplingOf(json["sampling"]);
  request.reasoning.budget = json.value("reasoning_budget", 0);
  if (json.contains("tools")) {
    request.constraint.kind = ConstraintSpec::Kind::kToolCalls;
    request.constraint.text = json["tools"].dump();
  }
  request.fingerprint = true;
  return request;
}

std::string hex(std::uint64_t value) {
  return QString("%1").arg(value, 16, 16, QChar('0')).toStdString();
}

}  // namespace

class TestReleaseIdentity : public QObject {
  Q_OBJECT
  QTemporaryDir dir_;
  std::map<std::string, std::unique_ptr<EngineService>> services_;  // by model

  std::string pathOf(const std::string& model) {
    const std::string folder = qEnvironmentVariable("TANDEM_MODELS").toStdString();
    if (model == "smollm2") return folder + "/SmolLM2-135M-Instruct.Q4_1.gguf";
    if (model == "gemma3") return folder + "/gemma-3-270m-Q4_K_M.gguf";
    const std::string path = dir_.filePath("thinking.gguf").toStdString();
    const Status written =
        writeTextModel(TANDEM_TEST_DATA "/tiny-models/llama.json", path, {.chatTemplate = kThinkingTemplate});
    if (!written.ok()) qFatal("%s", written.error().describe().c_str());
    return path;
  }

  EngineService& serviceFor(const std::string& model) {
    std::unique_ptr<EngineService>& service = services_[model];
    if (!service) {
      service = std::make_unique<EngineService>();
      Loading loading;
      service->loadModel(pathOf(model), {}, loading.sink());
      if (!loading.waitForEnd() || !loading.last<ModelInfo>())
        qFatal("%s is not in the folder that TANDEM_MODELS names; ./test fetches it", model.c_str());
    }
    return *service;
  }

 private slots:
  void theArithmeticIsThatOfTheRecording() {
    QCOMPARE(readJson("golden.json").at("arithmetic").get<int>(), kernels::kArithmeticVersion);
  }

  void answers_data() {
    QTest::addColumn<int>("number");
    const Json requests = readJson("requests.json");
    QCOMPARE(requests.size(), std::size_t{13});
    for (std::size_t i = 0; i < requests.size(); ++i)
      QTest::newRow(requests[i].at("name").get<std::string>().c_str()) << static_cast<int>(i);
  }
  void answers() {
    QFETCH(int, number);
    const Json request = readJson("requests.json").at(static_cast<std::size_t>(number));
    const Json golden = readJson("golden.json").at("answers").at(request.at("name").get<std::string>());
    Answer answer;
    serviceFor(request.at("model")).submit(requestOf(request), answer.sink());
    QVERIFY(answer.waitForEnd(std::chrono::seconds(240)));
    const auto finished = answer.last<FinishedEvent>();
    QVERIFY(finished);
    QCOMPARE(textOf(answer), golden.at("text").get<std::string>());
    QCOMPARE(std::string(finishReasonName(finished->stats.finish)), golden.at("finish").get<std::string>());
    QCOMPARE(hex(finished->stats.logitsFingerprint), golden.at("fingerprint").get<std::string>());
  }
};

QTEST_GUILESS_MAIN(TestReleaseIdentity)
#include "test_service.moc"
