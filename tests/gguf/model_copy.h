// A copy of a model file with faults put in on purpose, for tests of whoever loads models.
//
// Edits are collected and take effect in write(). Tensors that are not edited are copied from the original as
// they are. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/gguf/encoded_value.h"
#include "engine/gguf/file.h"

namespace tandem::test {

class ModelCopy {
 public:
  static Result<ModelCopy> of(const std::string& path);

  // Each edit names something that is in the file; write() fails with kNotFound for one that does not.
  void dropTensor(std::string_view name);
  void renameTensor(std::string_view name, std::string newName);
  // The tensor's data is cut, or continued with zeros, to the size that the new shape or type has.
  void setShape(std::string_view name, std::vector<std::uint64_t> dims);
  void setType(std::string_view name, gguf::TensorType type);
  void setData(std::string_view name, std::vector<std::byte> data);
  void dropKey(std::string_view key);
  // Adds the key where it is missing.
  void setValue(std::string_view key, gguf::EncodedValue value);

  Status write(const std::string& outPath) const;

 private:
  struct Key {
    std::string key;
    gguf::EncodedValue value;
  };
  struct Tensor {
    std::string name;
    gguf::TensorType type;
    std::vector<std::uint64_t> dims;
    std::span<const std::byte> original;
    std::vector<std::byte> replacement;  // used instead of `original` where it is not empty
  };
  explicit ModelCopy(std::shared_ptr<const gguf::File> file);
  Tensor* tensorNamed(std::string_view name);
  void fitData(Tensor& tensor);

  std::shared_ptr<const gguf::File> file_;  // keeps the mapping that the tensors' spans point into
  std::vector<Key> keys_;
  std::vector<Tensor> tensors_;
  Status status_;  // or the first edit that found nothing to edit
};

}  // namespace tandem::test
