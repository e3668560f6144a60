// A loaded model: config, weights, tokenizer and chat template. Immutable, shared between threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/base/status.h"
#include "engine/gguf/file.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/tokenizer/chat_template.h"
#include "engine/tokenizer/tokenizer.h"

namespace tandem {

// What running the model takes, known from the header before anything is allocated. Bytes.
struct MemoryPlan {
  std::uint64_t weights = 0;        // interleaved matrices
  std::uint64_t cachePerToken = 0;  // F16
  std::uint64_t activations = 0;    // of one pass
  std::uint64_t available = 0;      // what this machine has free now
};

struct ModelOptions {
  int loadThreads = 0;            // 0: all CPUs this process may use
  std::string preTokenizer = {};  // replaces the one that the file names; empty: the file's
  std::function<void(double fraction)> progress = {};  // may be empty
  WeightCacheOptions weightCache = {};                 // without a folder, weights are packed at every load
};

class Model {
 public:
  // Opens, checks and loads a GGUF file. Errors: those of gguf::File, ModelConfig, Tokenizer and Weights;
  // kOutOfMemory when the plan does not fit the machine.
  static Result<std::shared_ptr<const Model>> load(const std::string& path, const ModelOptions& options = {});

  // The plan of a file's model, without loading it.
  static MemoryPlan plan(const gguf::File& file, const ModelConfig& config);

  const gguf::File& file() const { return *file_; }
  const ModelConfig& config() const { return config_; }
  const Weights& weights() const { return weights_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  std::shared_ptr<const Tokenizer> sharedTokenizer() const { return tokenizer_; }

  // The file's chat template: kNotFound when it has none, the template's own error when it cannot be read.
  const Result<ChatTemplate>& chatTemplate() const { return template_; }

  std::string displayName() const;       // general.name, or the file's name
  std::string quantizationName() const;  // "Q4_1", "Q4_K_M", ... by general.file_type
  std::uint64_t parameters() const;      // elements of all tensors
  const std::string& fingerprint() const { return fingerprint_; }  // XXH3-128 of the file's bytes, hex
  // Whether the interleaved weights came from the cache.
  bool weightsWereKept() const { return weightsWereKept_; }
  // Rows of one prefill pass such that a layer takes well under 200 ms, so that a cancel is heeded in time.
  int prefillRows() const;

 private:
  Model() = default;
  std::shared_ptr<const gguf::File> file_;
  ModelConfig config_;
  Weights weights_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Result<ChatTemplate> template_ = Error{ErrorCode::kNotFound, "the model has no chat template"};
  std::string fingerprint_;
  bool weightsWereKept_ = false;
};

// "Q4_K_M" and the like, by general.file_type's number; "" when it is not known.
std::string fileTypeName(std::uint64_t fileType);

}  // namespace tandem
