#include "tests/gguf/model_copy.h"

#include <algorithm>

#include "engine/gguf/size_math.h"
#include "engine/gguf/writer.h"

namespace tandem::test {

ModelCopy::ModelCopy(std::shared_ptr<const gguf::File> file) : file_(std::move(file)) {
  for (const gguf::MetadataEntry& entry : file_->metadata())
    keys_.push_back({entry.key, gguf::encode(entry)});
  for (const gguf::TensorInfo& tensor : file_->tensors()) {
    tensors_.push_back({tensor.name, tensor.type, tensor.dims, file_->data(tensor), {}});
  }
}

Result<ModelCopy> ModelCopy::of(const std::string& path) {
  auto file = gguf::File::open(path);
  if (!file) return file.error();
  return ModelCopy(std::move(file.value()));
}

void ModelCopy::dropTensor(std::string_view name) {
  if (tensorNamed(name) == nullptr) return;
  std::erase_if(tensors_, [name](const Tensor& tensor) { return tensor.name == name; });
}

void ModelCopy::renameTensor(std::string_view name, std::string newName) {
  if (Tensor* tensor = tensorNamed(name)) tensor->name = std::move(newName);
}

void ModelCopy::setShape(std::string_view name, std::vector<std::uint64_t> dims) {
  if (Tensor* tensor = tensorNamed(name)) {
    tensor->dims = std::move(dims);
    fitData(*tensor);
  }
}

void ModelCopy::setType(std::string_view name, gguf::TensorType type) {
  if (Tensor* tensor = tensorNamed(name)) {
    tensor->type = type;
    fitData(*tensor);
  }
}

void ModelCopy::setData(std::string_view name, std::vector<std::byte> data) {
  if (Tensor* tensor = tensorNamed(name)) tensor->replacement = std::move(data);
}

void ModelCopy::dropKey(std::string_view key) {
  const std::size_t dropped = std::erase_if(keys_, [key](const Key& entry) { return entry.key == key; });
  if (dropped == 0 && status_)
    status_ = Error{ErrorCode::kNotFound, "There is no key to drop.", std::string(key)};
}

void ModelCopy::setValue(std::string_view key, gguf::EncodedValue value) {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [key](const Key& entry) { return entry.key == key; });
  if (found == keys_.end()) {
    keys_.push_back({std::string(key), std::move(value)});
  } else {
    found->value = std::move(value);
  }
}

Status ModelCopy::write(const std::string& outPath) const {
  if (!status_) return status_;
  gguf::Writer writer;
  for (const Key& entry : keys_)
    writer.add(entry.key, entry.value);
  for (const Tensor& tensor : tensors_) {
    writer.addTensor(tensor.name, tensor.type, tensor.dims,
                     [&tensor]() -> Result<std::span<const std::byte>> {
                       if (tensor.replacement.empty()) return tensor.original;
                       return std::span<const std::byte>(tensor.replacement);
                     });
  }
  return writer.write(outPath);
}

ModelCopy::Tensor* ModelCopy::tensorNamed(std::string_view name) {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [name](const Tensor& tensor) { return tensor.name == name; });
  if (found != tensors_.end()) return &*found;
  if (status_) status_ = Error{ErrorCode::kNotFound, "There is no tensor to edit.", std::string(name)};
  return nullptr;
}

// A shape that its type cannot store keeps its data; write() then refuses it.
void ModelCopy::fitData(Tensor& tensor) {
  const auto bytes = gguf::tensorBytes(tensor.type, tensor.dims);
  if (!bytes) return;
  if (tensor.replacement.empty()) tensor.replacement.assign(tensor.original.begin(), tensor.original.end());
  tensor.replacement.resize(*bytes);
}

}  // namespace tandem::test
