#include "engine/gguf/file.h"

namespace tandem::gguf {

BlockInfo blockInfo(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return {"F32", 1, 4};
    case TensorType::kF16:
      return {"F16", 1, 2};
    case TensorType::kQ4_0:
      return {"Q4_0", 32, 18};
    case TensorType::kQ4_1:
      return {"Q4_1", 32, 20};
    case TensorType::kQ5_0:
      return {"Q5_0", 32, 22};
    case TensorType::kQ5_1:
      return {"Q5_1", 32, 24};
    case TensorType::kQ8_0:
      return {"Q8_0", 32, 34};
    case TensorType::kQ8_1:
      return {"Q8_1", 32, 36};
    case TensorType::kQ2_K:
      return {"Q2_K", 256, 84};
    case TensorType::kQ3_K:
      return {"Q3_K", 256, 110};
    case TensorType::kQ4_K:
      return {"Q4_K", 256, 144};
    case TensorType::kQ5_K:
      return {"Q5_K", 256, 176};
    case TensorType::kQ6_K:
      return {"Q6_K", 256, 210};
    case TensorType::kQ8_K:
      return {"Q8_K", 256, 292};
    case TensorType::kIQ2_XXS:
      return {"IQ2_XXS", 256, 66};
    case TensorType::kIQ2_XS:
      return {"IQ2_XS", 256, 74};
    case TensorType::kIQ3_XXS:
      return {"IQ3_XXS", 256, 98};
    case TensorType::kIQ1_S:
      return {"IQ1_S", 256, 50};
    case TensorType::kIQ4_NL:
      return {"IQ4_NL", 32, 18};
    case TensorType::kIQ3_S:
      return {"IQ3_S", 256, 110};
    case TensorType::kIQ2_S:
      return {"IQ2_S", 256, 82};
    case TensorType::kIQ4_XS:
      return {"IQ4_XS", 256, 136};
    case TensorType::kI8:
      return {"I8", 1, 1};
    case TensorType::kI16:
      return {"I16", 1, 2};
    case TensorType::kI32:
      return {"I32", 1, 4};
    case TensorType::kI64:
      return {"I64", 1, 8};
    case TensorType::kF64:
      return {"F64", 1, 8};
    case TensorType::kIQ1_M:
      return {"IQ1_M", 256, 56};
    case TensorType::kBF16:
      return {"BF16", 1, 2};
    case TensorType::kTQ1_0:
      return {"TQ1_0", 256, 54};
    case TensorType::kTQ2_0:
      return {"TQ2_0", 256, 66};
    case TensorType::kMXFP4:
      return {"MXFP4", 32, 17};
    case TensorType::kNVFP4:
      return {"NVFP4", 64, 36};
    case TensorType::kQ1_0:
      return {"Q1_0", 128, 18};
  }
  return {"unknown", 0, 0};
}

std::uint32_t valueSize(ValueType type) {
  switch (type) {
    case ValueType::kUint8:
    case ValueType::kInt8:
    case ValueType::kBool:
      return 1;
    case ValueType::kUint16:
    case ValueType::kInt16:
      return 2;
    case ValueType::kUint32:
    case ValueType::kInt32:
    case ValueType::kFloat32:
      return 4;
    case ValueType::kUint64:
    case ValueType::kInt64:
    case ValueType::kFloat64:
      return 8;
    case ValueType::kString:
    case ValueType::kArray:
      return 0;
  }
  return 0;
}

}  // namespace tandem::gguf
