#include "engine/gguf/file.h"

#include <new>

#include "engine/gguf/parser.h"
#include "engine/gguf/text.h"

namespace tandem::gguf {

struct File::Impl {
  std::string path;
  MappedFile mapping;
  Contents contents;
};

namespace {

Error wrongKind(const MetadataEntry& entry, const char* wanted) {
  const std::string field = shown(entry.key);
  return corrupt("Metadata key " + field + " must be " + wanted + ", but the file gives a value of type " +
                     std::to_string(static_cast<std::uint32_t>(entry.type)) +
                     ": the file is malformed. Get another copy.",
                 field, entry.offset);
}

template <class T>
Result<std::optional<T>> get(const MetadataEntry* entry, const char* wanted) {
  if (entry == nullptr) return std::optional<T>();
  if (const T* value = std::get_if<T>(&entry->value)) return std::optional<T>(*value);
  return wrongKind(*entry, wanted);
}

}  // namespace

File::File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
File::~File() = default;

Result<std::shared_ptr<const File>> File::open(const std::string& path) {
  try {
    Result<MappedFile> mapping = MappedFile::open(path);
    if (!mapping) return mapping.error();
    Result<Contents> contents = parse(mapping->bytes());
    if (!contents) return contents.error();
    auto impl = std::make_unique<Impl>(Impl{path, std::move(mapping.value()), std::move(contents.value())});
    return std::shared_ptr<const File>(new File(std::move(impl)));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory,
                 "There is not enough memory to read the header of " + shown(path) + "."};
  }
}

const std::string& File::path() const {
  return impl_->path;
}
std::uint64_t File::size() const {
  return impl_->mapping.bytes().size();
}
std::uint32_t File::version() const {
  return impl_->contents.version;
}
std::uint32_t File::alignment() const {
  return impl_->contents.alignment;
}
const std::vector<MetadataEntry>& File::metadata() const {
  return impl_->contents.metadata;
}
const std::vector<TensorInfo>& File::tensors() const {
  return impl_->contents.tensors;
}

const MetadataEntry* File::find(std::string_view key) const {
  const auto position = impl_->contents.keys.find(key);
  return position ? &impl_->contents.metadata[*position] : nullptr;
}

const TensorInfo* File::findTensor(std::string_view name) const {
  const auto position = impl_->contents.tensorNames.find(name);
  return position ? &impl_->contents.tensors[*position] : nullptr;
}

std::span<const std::byte> File::bytes() const {
  return impl_->mapping.bytes();
}

std::span<const std::byte> File::data(const TensorInfo& tensor) const {
  return impl_->mapping.bytes().subspan(tensor.offset, tensor.bytes);
}

Result<std::optional<std::uint64_t>> File::getUint(std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (entry != nullptr) {
    if (const auto* value = std::get_if<std::int64_t>(&entry->value)) {
      if (*value < 0) return wrongKind(*entry, "an integer of 0 or more");
      return std::optional(static_cast<std::uint64_t>(*value));
    }
  }
  return get<std::uint64_t>(entry, "an integer of 0 or more");
}

Result<std::optional<double>> File::getFloat(std::string_view key) const {
  return get<double>(find(key), "a floating-point number");
}

Result<std::optional<bool>> File::getBool(std::string_view key) const {
  return get<bool>(find(key), "a boolean");
}

Result<std::optional<std::string_view>> File::getString(std::string_view key) const {
  return get<std::string_view>(find(key), "a string");
}

Result<const ArrayView*> File::getArray(std::string_view key) const {
  const MetadataEntry* entry = find(key);
  if (entry == nullptr) return static_cast<const ArrayView*>(nullptr);
  if (const ArrayView* array = std::get_if<ArrayView>(&entry->value)) return array;
  return wrongKind(*entry, "an array");
}

const FileIdentity& File::identity() const {
  return impl_->mapping.identity();
}

void File::releasePages(std::span<const std::byte> part) const {
  impl_->mapping.release(part);
}

}  // namespace tandem::gguf
