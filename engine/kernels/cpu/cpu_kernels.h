// The functions of a CPU kernel set, one file per idea or weight format. The files of this folder are built
// once per instruction set, TANDEM_SET being its name and namespace (CMakeLists.txt), and use no inline
// standard-library code: what one set is built with must not end up in a copy that the linker gives to
// another.
#pragma once

#include "engine/kernels/kernel_set.h"

namespace tandem::kernels::TANDEM_SET {

bool quantizeRow(const float* x, int k, int row, const QuantizedRows& out);

using MatmulQuantized = void(const PackedMatrix& w, const QuantizedRows& x, int rows, int groupBegin,
                             int groupEnd, float* out, std::size_t outStride);
MatmulQuantized matmulQ4_0, matmulQ4_1, matmulQ5_0, matmulQ5_1, matmulQ8_0, matmulQ2_K, matmulQ3_K,
    matmulQ4_K, matmulQ5_K, matmulQ6_K, matmulIQ4_NL, matmulIQ4_XS, matmulMXFP4, matmulNVFP4;

void matmulFloat(const PackedMatrix& w, const float* x, int rows, int groupBegin, int groupEnd, float* out,
                 std::size_t outStride);

void rmsNorm(const float* x, const float* weight, int n, float eps, float* out);
void ropeAdjacent(float* head, const float* cosine, const float* sine, int pairs);
void ropeHalves(float* head, const float* cosine, const float* sine, int pairs);
bool toCache(const float* x, int n, RowType type, void* out);
void attendF16(const AttentionJob& job);
void attendF32(const AttentionJob& job);
void attendVq8(const AttentionJob& job);
void attendQ8(const AttentionJob& job);
void joinTiles(const AttentionJob& job);
void gatedActivation(float* gate, const float* up, int n, Activation activation);
void sigmoidGate(float* x, const float* gate, int n);
void add(float* x, const float* y, int n);
void scale(float* x, float factor, int n);
void softCap(float* x, float cap, int n);
bool allFinite(const float* x, int n);
int argmax(const float* x, int n);
int atLeast(const float* x, int n, float threshold, int* indices);
int contenders(const float* logits, int n, const Draw& draw, int* tokens);
void convolve(const float* const* in, const float* weights, int taps, int n, float* out);
void deltaStep(const DeltaStep& step);
void joinExperts(const float* const* outputs, const float* weights, int count, int n, float* out);

std::int64_t probeInt8(std::int64_t steps);
std::int64_t probeFloat(std::int64_t steps);
std::uint32_t probeRead(const std::uint8_t* data, std::size_t bytes);

extern const KernelSet table;

}  // namespace tandem::kernels::TANDEM_SET
