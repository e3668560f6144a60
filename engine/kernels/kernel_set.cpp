#include "engine/kernels/kernel_set.h"

#include <cpuid.h>

#include <cstdlib>
#include <string>

namespace tandem::kernels {
namespace {

// AVX2, FMA and F16C, and an operating system that saves the YMM registers.
bool cpuHasAvx2() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  const bool fma = c & bit_FMA, f16c = c & bit_F16C, osxsave = c & bit_OSXSAVE;
  if (!fma || !f16c || !osxsave) return false;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6) != 6) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
}

}  // namespace

std::vector<const KernelSet*> availableKernels() {
  std::vector<const KernelSet*> sets = {&referenceKernels()};
  if (cpuHasAvx2()) sets.push_back(&avx2Kernels());
  if (const char* limit = std::getenv("TANDEM_KERNELS")) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (std::string_view(sets[i]->name) == limit) sets.resize(i + 1);
    }
  }
  return sets;
}

const KernelSet& bestKernels() {
  return *availableKernels().back();
}

Result<const KernelSet*> kernelsByName(std::string_view name) {
  std::string known;
  for (const KernelSet* set : availableKernels()) {
    if (name == set->name) return set;
    known += known.empty() ? set->name : std::string(", ") + set->name;
  }
  return Error{ErrorCode::kInvalidArgument,
               "this CPU cannot run the kernel set '" + std::string(name) + "'; it can run: " + known,
               "kernels"};
}

}  // namespace tandem::kernels
