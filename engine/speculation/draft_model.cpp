#include "engine/speculation/draft_model.h"

#include "engine/speculation/vocabulary_match.h"

namespace tandem {

Result<std::unique_ptr<DraftModel>> DraftModel::load(const std::string& path, const Model& target,
                                                     const DecoderOptions& options,
                                                     const ModelOptions& modelOptions) {
  auto model = Model::load(path, modelOptions);
  if (!model.ok()) return model.error();
  const Status same = sameVocabulary(target.tokenizer().vocabulary(), (*model)->tokenizer().vocabulary());
  if (!same.ok()) return same.error();
  if ((*model)->config().vocabulary != target.config().vocabulary) {
    return Error{ErrorCode::kUnsupported,
                 "it scores " + std::to_string((*model)->config().vocabulary) + " tokens, the model " +
                     std::to_string(target.config().vocabulary),
                 "output.weight"};
  }
  auto decoder = Decoder::create(std::move(*model), options);
  if (!decoder.ok()) return decoder.error();
  return std::unique_ptr<DraftModel>(new DraftModel(std::move(*decoder)));
}

}  // namespace tandem
