#include "engine/kernels/kernel_set.h"

#include <cpuid.h>

#include <cstdlib>
#include <string>

namespace tandem::kernels {

// engine/kernels/cpu, built for each
namespace avx2 {
extern const KernelSet table;
}
namespace avx512 {
extern const KernelSet table;
}
namespace avx512vnni {
extern const KernelSet table;
}

namespace {

// What this CPU has, and its operating system saves.
struct Features {
  bool avx2 = false;    // with FMA and F16C
  bool avx512 = false;  // F, BW, DQ and VL
  bool vnni = false;
};

Features features() {
  Features found;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return found;
  const bool fma = c & bit_FMA, f16c = c & bit_F16C, osxsave = c & bit_OSXSAVE;
  if (!fma || !f16c || !osxsave) return found;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kYmm = 0x6, kZmm = 0xE6;
  if ((low & kYmm) != kYmm || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return found;
  constexpr unsigned kAvx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
  found.avx2 = b & bit_AVX2;
  found.avx512 = found.avx2 && (low & kZmm) == kZmm && (b & kAvx512) == kAvx512;
  found.vnni = found.avx512 && (c & bit_AVX512VNNI);
  return found;
}

}  // namespace

std::vector<const KernelSet*> availableKernels() {
  std::vector<const KernelSet*> sets = {&referenceKernels()};
  const Features cpu = features();
  if (cpu.avx2) sets.push_back(&avx2::table);
  if (cpu.avx512) sets.push_back(&avx512::table);
  if (cpu.vnni) sets.push_back(&avx512vnni::table);
  if (const char* limit = std::getenv("TANDEM_KERNELS")) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (std::string_view(sets[i]->name) == limit) sets.resize(i + 1);
    }
  }
  return sets;
}

const KernelSet& bestKernels() {
  // Asked once: CPUID takes tens of microseconds on a virtual machine, and the sampler asks for each token.
  static const KernelSet& best = *availableKernels().back();
  return best;
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
