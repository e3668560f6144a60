// Takes a model's tensors out of its file one by one, in the order in which they are asked for, and keeps the
// first error, so that the list of what a model needs reads as a list.
//
// Matrices are placed one after the other in one block of memory. Without memory a reader only looks at the
// file's table of tensors: it checks types and shapes, places the matrices and hands out empty ones.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/base/thread_pool.h"
#include "engine/gguf/file.h"
#include "engine/kernels/packed_matrix.h"
#include "engine/model/weight_cache.h"
#include "engine/model/weights.h"

namespace tandem {

class TensorReader {
 public:
  // Only places.
  explicit TensorReader(const gguf::File& file);
  // Reads. REQUIRES: the memory is as large as a reader that only places, asked for the same, says.
  TensorReader(const gguf::File& file, const WeightMemory& memory, ThreadPool& pool);
  ~TensorReader();
  TensorReader(const TensorReader&) = delete;
  TensorReader& operator=(const TensorReader&) = delete;

  // W of n rows of k elements, with the bias beside it if the file has one.
  Linear linear(const std::string& name, int n, int k);
  kernels::PackedMatrix matrix(const std::string& name, int n, int k);
  // Some rows of a tensor of n rows, in the order given, with the same rows of its bias.
  Linear rowsOf(const std::string& name, int n, int k, const std::vector<int>& rows);
  // A matrix per expert: rows rowBegin … rowBegin + n - 1 of the tensor's `rows` rows of each.
  std::vector<kernels::PackedMatrix> experts(const std::string& name, int count, int rows, int rowBegin,
                                             int n, int k);
  // A tensor of one dimension as a matrix of one row.
  kernels::PackedMatrix oneRow(const std::string& name, int k);

  std::vector<float> vector(const std::string& name, int n);
  // A tensor of few numbers in fp32, in the file's order.
  std::vector<float> numbers(const std::string& name, const std::vector<std::uint64_t>& dims, int rowLength);

  EmbeddingTable embedding(const std::string& name, int n, int k);

  bool has(const std::string& name) const { return file_.findTensor(name) != nullptr; }
  const Status& status() const { return status_; }
  // Of all matrices so far.
  WeightLayout layout() const;

 private:
  struct KeyHash;  // over what a layout's key covers

  // Rows [begin, begin + count) of a tensor, or those that `picked` names.
  struct Rows {
    const std::vector<int>* picked = nullptr;
    int begin = 0, count = 0;
  };

  void fail(Error error);
  kernels::PackedMatrix slice(const std::string& name, const std::vector<std::uint64_t>& dims,
                              const Rows& rows, int k);
  void pack(const gguf::TensorInfo& tensor, kernels::WeightFormat format, const Rows& rows, int k,
            std::uint8_t* out);
  const gguf::TensorInfo* find(const std::string& name, const std::vector<std::uint64_t>& dims);
  kernels::WeightFormat formatOf(const gguf::TensorInfo& tensor, int k);

  const gguf::File& file_;
  const WeightMemory* memory_ = nullptr;  // null: only places
  ThreadPool* pool_ = nullptr;
  std::unique_ptr<KeyHash> key_;
  std::uint64_t bytes_ = 0;
  Status status_;
};

}  // namespace tandem
