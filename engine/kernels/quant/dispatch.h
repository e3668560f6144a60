// From a format's number to its description: withFormat(format, []<class F>(F) { … }) calls the body with the
// type. The one place where a weight's format is resolved.
#pragma once

#include <cstdlib>

#include "engine/kernels/packed_matrix.h"
#include "engine/kernels/quant/codebooks.h"
#include "engine/kernels/quant/float_weights.h"
#include "engine/kernels/quant/q2_k.h"
#include "engine/kernels/quant/q3_k.h"
#include "engine/kernels/quant/q4_0.h"
#include "engine/kernels/quant/q4_1.h"
#include "engine/kernels/quant/q4_k.h"
#include "engine/kernels/quant/q5_0.h"
#include "engine/kernels/quant/q5_1.h"
#include "engine/kernels/quant/q5_k.h"
#include "engine/kernels/quant/q6_k.h"
#include "engine/kernels/quant/q8_0.h"

namespace tandem::kernels {

template <class Body>
auto withFormat(WeightFormat format, Body&& body) {
  switch (format) {
    case WeightFormat::kF32:
      return body(F32{});
    case WeightFormat::kF16:
      return body(F16{});
    case WeightFormat::kBF16:
      return body(BF16{});
    case WeightFormat::kQ4_0:
      return body(Q4_0{});
    case WeightFormat::kQ4_1:
      return body(Q4_1{});
    case WeightFormat::kQ5_0:
      return body(Q5_0{});
    case WeightFormat::kQ5_1:
      return body(Q5_1{});
    case WeightFormat::kQ8_0:
      return body(Q8_0{});
    case WeightFormat::kQ2_K:
      return body(Q2_K{});
    case WeightFormat::kQ3_K:
      return body(Q3_K{});
    case WeightFormat::kQ4_K:
      return body(Q4_K{});
    case WeightFormat::kQ5_K:
      return body(Q5_K{});
    case WeightFormat::kQ6_K:
      return body(Q6_K{});
    case WeightFormat::kIQ4_NL:
      return body(IQ4_NL{});
    case WeightFormat::kIQ4_XS:
      return body(IQ4_XS{});
    case WeightFormat::kMXFP4:
      return body(MXFP4{});
    case WeightFormat::kNVFP4:
      return body(NVFP4{});
  }
  std::abort();
}

}  // namespace tandem::kernels
