#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "engine/gguf/parser.h"
#include "engine/gguf/size_math.h"
#include "engine/gguf/text.h"

namespace tandem::gguf {
namespace {

class TensorTable {
 public:
  TensorTable(Cursor& cursor, IndexBudget& budget, Contents& contents)
      : cursor_(cursor), budget_(budget), contents_(contents) {}

  Status read(std::uint64_t count);

 private:
  Status readRecord(std::uint64_t index);
  Status readDims(TensorInfo& tensor, const std::string& field);
  Status readType(TensorInfo& tensor, const std::string& field);
  Status readOffset(TensorInfo& tensor, const std::string& field);
  Status place();
  Status checkOverlap() const;

  Cursor& cursor_;
  IndexBudget& budget_;
  Contents& contents_;
};

Status TensorTable::read(std::uint64_t count) {
  constexpr std::uint64_t kDimsBytes = kMaxDims * sizeof(std::uint64_t) + 16;
  // Besides the record: where its offset stands, and its place in the order that checkOverlap sorts.
  constexpr std::uint64_t kBytesPerTensor =
      sizeof(TensorInfo) + kDimsBytes + NameIndex::kBytesPerName + 2 * sizeof(std::uint64_t);
  if (!budget_.charge(count, kBytesPerTensor))
    return tooLarge(grouped(count) + " tensors", "tensor_count", 8);
  contents_.tensors.reserve(count);
  contents_.tensorNames.reserve(count);
  contents_.offsetFields.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (Status status = readRecord(i); !status) return status;
  }
  return place();
}

Status TensorTable::readRecord(std::uint64_t index) {
  const std::uint64_t start = cursor_.position();
  TensorInfo tensor{};
  if (Status status = readName(cursor_, "tensor " + std::to_string(index), tensor.name); !status)
    return status;
  const std::string field = shown(tensor.name);
  if (!budget_.charge(1, tensor.name.size() + 1)) return tooLarge("the tensor names", field, start);
  if (Status status = readDims(tensor, field); !status) return status;
  if (Status status = readType(tensor, field); !status) return status;
  if (Status status = readOffset(tensor, field); !status) return status;
  contents_.tensors.push_back(std::move(tensor));
  if (!contents_.tensorNames.insert(contents_.tensors.back().name, static_cast<std::uint32_t>(index))) {
    return corrupt("Tensor " + field + " stands in the file twice: the file is malformed. Get another copy.",
                   field, start);
  }
  return {};
}

Status TensorTable::readDims(TensorInfo& tensor, const std::string& field) {
  const std::uint64_t start = cursor_.position();
  std::uint32_t count = 0;
  if (!cursor_.read(count)) {
    return endsEarly("the number of dimensions of tensor " + field, field, start, sizeof count,
                     cursor_.left());
  }
  if (count == 0 || count > kMaxDims) {
    return corrupt("Tensor " + field + " has " + grouped(count) +
                       " dimensions; it must have 1 to 4: the file is damaged. Download it again.",
                   field, start);
  }
  tensor.dims.resize(count);
  tensor.elements = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t offset = cursor_.position();
    if (!cursor_.read(tensor.dims[i])) {
      return endsEarly("the dimensions of tensor " + field, field, offset, sizeof(std::uint64_t),
                       cursor_.left());
    }
    if (tensor.dims[i] == 0 || tensor.dims[i] >= kSizeLimit) {
      return corrupt("Dimension " + std::to_string(i) + " of tensor " + field + " is " +
                         grouped(tensor.dims[i]) +
                         "; it must be from 1 to 2^63 - 1: the file is damaged. Download it again.",
                     field, offset);
    }
    if (!multiply(tensor.elements, tensor.dims[i], tensor.elements)) {
      return corrupt("The dimensions of tensor " + field +
                         " multiply to 2^63 or more elements: the file is damaged. Download it again.",
                     field, offset);
    }
  }
  return {};
}

Status TensorTable::readType(TensorInfo& tensor, const std::string& field) {
  const std::uint64_t start = cursor_.position();
  std::uint32_t type = 0;
  if (!cursor_.read(type))
    return endsEarly("the type of tensor " + field, field, start, sizeof type, cursor_.left());
  tensor.type = static_cast<TensorType>(type);
  const BlockInfo block = blockInfo(tensor.type);
  if (block.elements == 0) {
    return Error{ErrorCode::kUnsupported,
                 "Tensor " + field + " has the element type " + grouped(type) +
                     ", which this program does not know. A newer version may; or get the model in another "
                     "quantisation.",
                 field, start};
  }
  if (tensor.dims[0] % block.elements != 0) {
    return corrupt("The rows of tensor " + field + " have " + grouped(tensor.dims[0]) + " elements, but " +
                       block.name + " stores blocks of " + std::to_string(block.elements) +
                       ": the file is malformed. Get another copy.",
                   field, start);
  }
  if (!multiply(tensor.elements / block.elements, block.bytes, tensor.bytes)) {
    return corrupt(
        "Tensor " + field + " would have 2^63 bytes or more: the file is damaged. Download it again.", field,
        start);
  }
  return {};
}

Status TensorTable::readOffset(TensorInfo& tensor, const std::string& field) {
  const std::uint64_t start = cursor_.position();
  if (!cursor_.read(tensor.offset)) {
    return endsEarly("the offset of tensor " + field, field, start, sizeof tensor.offset, cursor_.left());
  }
  if (tensor.offset % contents_.alignment != 0) {
    return corrupt("The data of tensor " + field + " is said to start at offset " + grouped(tensor.offset) +
                       ", which is not a multiple of the alignment " + grouped(contents_.alignment) +
                       ": the file is malformed. Get another copy.",
                   field, start);
  }
  contents_.offsetFields.push_back(start);
  return {};
}

// Turns the offsets into places in the file and checks that the tensors lie side by side inside it.
Status TensorTable::place() {
  contents_.dataStart = alignUp(cursor_.position(), contents_.alignment);
  for (std::size_t i = 0; i < contents_.tensors.size(); ++i) {
    TensorInfo& tensor = contents_.tensors[i];
    const std::string field = shown(tensor.name);
    std::uint64_t end = 0;
    if (!add(contents_.dataStart, tensor.offset, tensor.offset) || !add(tensor.offset, tensor.bytes, end)) {
      return corrupt("The data of tensor " + field +
                         " would end at byte 2^63 or later: the file is damaged. Download it again.",
                     field, contents_.offsetFields[i]);
    }
    if (!add(contents_.packedBytes, alignUp(tensor.bytes, contents_.alignment), contents_.packedBytes)) {
      return corrupt("The tensors up to " + field +
                         " add up to 2^63 bytes or more: the file is damaged. Download it again.",
                     field, contents_.offsetFields[i]);
    }
  }
  return checkOverlap();
}

Status TensorTable::checkOverlap() const {
  const std::vector<TensorInfo>& tensors = contents_.tensors;
  std::vector<std::uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(tensors[a].offset, a) < std::tie(tensors[b].offset, b);
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = tensors[order[i - 1]];
    const TensorInfo& after = tensors[order[i]];
    if (before.offset + before.bytes > after.offset) {
      return corrupt("The data of tensor " + shown(after.name) + " begins inside the data of tensor " +
                         shown(before.name) + ": the file is malformed. Get another copy.",
                     shown(after.name), contents_.offsetFields[order[i]]);
    }
  }
  return {};
}

}  // namespace

Status readTensorTable(Cursor& cursor, std::uint64_t tensorCount, IndexBudget& budget, Contents& contents) {
  return TensorTable(cursor, budget, contents).read(tensorCount);
}

Status checkComplete(const Contents& contents, std::uint64_t fileSize) {
  const std::vector<TensorInfo>& tensors = contents.tensors;
  std::uint64_t needed = 0;
  for (const TensorInfo& tensor : tensors)
    needed = std::max(needed, tensor.offset + tensor.bytes);
  if (needed <= fileSize) return {};
  const auto missing = std::find_if(tensors.begin(), tensors.end(), [fileSize](const TensorInfo& tensor) {
    return tensor.offset + tensor.bytes > fileSize;
  });
  const std::string field = shown(missing->name);
  // Tensors without gaps between them: the header is right and the file is short. With a gap, an offset is
  // wrong.
  if (needed - contents.dataStart <= contents.packedBytes) {
    const double percent = std::floor(100.0 * static_cast<double>(fileSize) / static_cast<double>(needed));
    return corrupt("The file is incomplete: it has " + bytesText(fileSize) + " of the " + grouped(needed) +
                       " it needs; its download stopped at " + std::to_string(static_cast<int>(percent)) +
                       " %. Download it again.",
                   field, fileSize);
  }
  return corrupt("The data of tensor " + field + " should lie at bytes " + grouped(missing->offset) + " to " +
                     grouped(missing->offset + missing->bytes) + ", but the file has only " +
                     bytesText(fileSize) + ": it is damaged or incomplete. Download it again.",
                 field, contents.offsetFields[static_cast<std::size_t>(missing - tensors.begin())]);
}

}  // namespace tandem::gguf
