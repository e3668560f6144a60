// Results of the gate as JSON, and the file that a run goes on from: one line for each prompt and cell that
// is done, with a key of everything the result depends on, this very program included. A line that is torn,
// or of another key, is passed over.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "engine/agreement/agreement.h"

namespace tandem::cli {

nlohmann::json resultJson(const agreement::CellResult& result);

class ResultsFile {
 public:
  // `conditions`: what all results depend on. An empty path: nothing is kept. Error: kIo.
  static Result<ResultsFile> open(const std::string& path, std::string conditions);

  // The result that the file has; null: none yet.
  const agreement::CellResult* find(std::span<const TokenId> prompt, const agreement::Cell& cell) const;
  // Writes one more line and sees it to the system. Error: kIo.
  Status add(std::span<const TokenId> prompt, const agreement::Cell& cell,
             const agreement::CellResult& result);

  int others() const { return others_; }  // lines of other conditions

 private:
  std::string keyOf(std::span<const TokenId> prompt, const agreement::Cell& cell) const;

  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_, conditions_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::map<std::string, agreement::CellResult> results_;  // by key
  int others_ = 0;
};

// 16 hex digits of the bytes of the running program. Error: kIo.
Result<std::string> programFingerprint();

}  // namespace tandem::cli
