#include "engine/gguf/writer.h"

#include <bit>

#include "engine/gguf/name_index.h"
#include "engine/gguf/output_file.h"
#include "engine/gguf/parser.h"
#include "engine/gguf/size_math.h"
#include "engine/gguf/text.h"

namespace tandem::gguf {
namespace {

constexpr const char* kAlignmentKey = "general.alignment";
constexpr std::uint32_t kWrittenVersion = 3;

Error invalid(const std::string& sentence, const std::string& field) {
  return {ErrorCode::kInvalidArgument, sentence, field};
}

// Refuses a key or tensor name that the reader would refuse, and one that `seen` has already.
Status checkName(const std::string& name, NameIndex& seen) {
  if (name.empty() || name.size() > kMaxNameBytes || !isUtf8(name) || name.find('\0') != std::string::npos) {
    return invalid("No key or tensor can be called " + shown(name) + ": names are UTF-8 text of 1 to " +
                       grouped(kMaxNameBytes) + " bytes.",
                   shown(name));
  }
  if (!seen.insert(name, 0)) return invalid("The name " + shown(name) + " was added twice.", shown(name));
  return {};
}

Status writePadding(OutputFile& file, std::uint64_t alignment) {
  const std::string zeros(alignUp(file.position(), alignment) - file.position(), '\0');
  return file.write(std::as_bytes(std::span(zeros)));
}

}  // namespace

void Writer::addTensor(std::string name, TensorType type, std::vector<std::uint64_t> dims,
                       TensorSource source) {
  tensors_.push_back({std::move(name), type, std::move(dims), std::move(source)});
}

Status Writer::write(const std::string& path) const {
  const Result<std::uint32_t> aligned = alignment();
  if (!aligned) return aligned.error();
  if (Status status = check(); !status) return status;
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return file.error();
  const std::string start = header(*aligned);
  if (Status status = file->write(std::as_bytes(std::span(start))); !status) return status;
  if (Status status = writePadding(*file, *aligned); !status) return status;
  for (const Tensor& tensor : tensors_) {
    const Result<std::span<const std::byte>> data = tensor.source();
    if (!data) return data.error();
    if (data->size() != tensorBytes(tensor.type, tensor.dims)) {
      return invalid("The data given for tensor " + shown(tensor.name) + " has " + bytesText(data->size()) +
                         ", which does not fit its shape and type.",
                     shown(tensor.name));
    }
    if (Status status = file->write(*data); !status) return status;
    if (Status status = writePadding(*file, *aligned); !status) return status;
  }
  return file->commit();
}

Result<std::uint32_t> Writer::alignment() const {
  for (const auto& [key, value] : values_) {
    if (key != kAlignmentKey) continue;
    std::uint32_t alignment = 0;
    if (value.type == ValueType::kUint32) std::memcpy(&alignment, value.bytes.data(), sizeof alignment);
    if (!std::has_single_bit(alignment) || alignment < kMinAlignment || alignment > kMaxAlignment) {
      return invalid(
          "general.alignment must be a UINT32 and a power of two from 8 to " + grouped(kMaxAlignment) + ".",
          kAlignmentKey);
    }
    return alignment;
  }
  return kDefaultAlignment;
}

Status Writer::check() const {
  NameIndex keys;
  for (const auto& [key, value] : values_) {
    if (Status status = checkName(key, keys); !status) return status;
  }
  NameIndex names;
  for (const Tensor& tensor : tensors_) {
    if (Status status = checkName(tensor.name, names); !status) return status;
    if (!tensorBytes(tensor.type, tensor.dims)) {
      return invalid("Tensor " + shown(tensor.name) + " has a shape that its type cannot store.",
                     shown(tensor.name));
    }
  }
  return {};
}

// Everything before the tensor data. REQUIRES: check() succeeded
std::string Writer::header(std::uint32_t alignment) const {
  std::string bytes = "GGUF";
  appendRaw(bytes, kWrittenVersion);
  appendRaw(bytes, std::uint64_t{tensors_.size()});
  appendRaw(bytes, std::uint64_t{values_.size()});
  for (const auto& [key, value] : values_) {
    appendString(bytes, key);
    appendRaw(bytes, value.type);
    bytes += value.bytes;
  }
  std::uint64_t offset = 0;
  for (const Tensor& tensor : tensors_) {
    appendString(bytes, tensor.name);
    appendRaw(bytes, static_cast<std::uint32_t>(tensor.dims.size()));
    for (const std::uint64_t dim : tensor.dims)
      appendRaw(bytes, dim);
    appendRaw(bytes, tensor.type);
    appendRaw(bytes, offset);
    offset += alignUp(*tensorBytes(tensor.type, tensor.dims), alignment);
  }
  return bytes;
}

}  // namespace tandem::gguf
