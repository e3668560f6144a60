// A second, smaller model that guesses what the first one will write. It has a decoder of its own and reads
// the same token ids, so it must have the same vocabulary.
#pragma once

#include <memory>
#include <string>

#include "engine/base/status.h"
#include "engine/model/decoder.h"

namespace tandem {

class DraftModel {
 public:
  // Loads the file and checks that its token ids mean what the target's mean. Errors: those of Model::load
  // and Decoder::create; kUnsupported for another vocabulary.
  static Result<std::unique_ptr<DraftModel>> load(const std::string& path, const Model& target,
                                                  const DecoderOptions& options,
                                                  const ModelOptions& modelOptions = {});

  Decoder& decoder() { return *decoder_; }
  const Model& model() const { return decoder_->model(); }
  int contextLength() const { return model().config().contextLength; }

 private:
  explicit DraftModel(std::unique_ptr<Decoder> decoder) : decoder_(std::move(decoder)) {}
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace tandem
