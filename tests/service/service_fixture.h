// What the tests of the service share: tiny models in a folder of their own, and requests that were answered.
#pragma once

#include <QTemporaryDir>
#include <QTest>
#include <string>
#include <utility>

#include "app/service/engine_service.h"
#include "tests/service/collector.h"
#include "tests/service/text_model.h"

namespace tandem::test {

class ServiceFixture {
 protected:
  // Writes a text model and returns its path.
  std::string write(const char* name, const TextModelOptions& options = {}) {
    const std::string path = folder_.filePath(name).toStdString();
    const Status status = writeTextModel(TANDEM_TEST_DATA "/tiny-models/llama.json", path, options);
    if (!status) qWarning("%s", status.error().describe().c_str());
    return path;
  }

  static void load(service::EngineService& service, const std::string& path) {
    Loading loading;
    service.loadModel(path, {.threads = 1}, loading.sink());
    QVERIFY(loading.waitForEnd());
    if (const auto error = loading.last<Error>()) qWarning("%s", error->describe().c_str());
    QVERIFY(loading.last<service::ModelInfo>());
  }

  // The answer to a request, when it has ended.
  static Answer answered(service::EngineService& service, service::GenerateRequest request) {
    Answer answer;
    service.submit(std::move(request), answer.sink());
    if (!answer.waitForEnd()) qWarning("no end within a minute");
    return answer;
  }

  static service::GenerateRequest chatRequest(std::string content, int maxTokens) {
    service::GenerateRequest request;
    request.messages = {{"user", std::move(content)}};
    request.maxTokens = maxTokens;
    return request;
  }

  QTemporaryDir folder_;
};

}  // namespace tandem::test
