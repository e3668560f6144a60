#include "engine/cache/recurrent_state.h"

#include <cstring>
#include <new>

namespace tandem {
namespace {

Result<std::shared_ptr<float[]>> newBlock(const RecurrentLayout& layout) {
  auto* memory = new (std::nothrow) float[layout.bytes() / sizeof(float)]();
  if (!memory) {
    return Error{ErrorCode::kOutOfMemory, "there is not enough memory for the state of another conversation"};
  }
  return std::shared_ptr<float[]>(memory);
}

}  // namespace

Result<RecurrentState> RecurrentState::initial(const RecurrentLayout& layout) {
  RecurrentState state;
  state.layout_ = layout;
  if (layout.layers == 0) return state;
  auto block = newBlock(layout);
  if (!block.ok()) return block.error();
  state.data_ = std::move(*block);
  return state;
}

Status RecurrentState::makeWritable() {
  if (!data_ || data_.use_count() == 1) return {};
  auto block = newBlock(layout_);
  if (!block.ok()) return block.error();
  std::memcpy(block->get(), data_.get(), layout_.bytes());
  data_ = std::move(*block);
  return {};
}

std::span<const std::byte> RecurrentState::bytes() const {
  return std::as_bytes(std::span<const float>(data_.get(), layout_.bytes() / sizeof(float)));
}

Status RecurrentState::restore(std::span<const std::byte> snapshot) {
  if (snapshot.size() != layout_.bytes()) {
    return Error{ErrorCode::kInvalidArgument, "the snapshot has " + std::to_string(snapshot.size()) +
                                                  " bytes where the model's state has " +
                                                  std::to_string(layout_.bytes())};
  }
  if (Status s = makeWritable(); !s.ok()) return s;
  if (!snapshot.empty()) std::memcpy(data_.get(), snapshot.data(), snapshot.size());
  return {};
}

RecurrentScratch::RecurrentScratch(const RecurrentLayout& layout, int rows) : layout_(layout), rows_(rows) {
  const std::size_t planes = static_cast<std::size_t>(layout.layers) * rows;
  inputs_.resize(planes * layout.channels);
  convolved_.resize(planes * layout.channels);
  decay_.resize(planes * layout.valueHeads);
  beta_.resize(planes * layout.valueHeads);
}

}  // namespace tandem
