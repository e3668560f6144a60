// The probes of the scalar set (kernel_set.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::kernels::reference {

std::int64_t probeInt8(std::int64_t steps);
std::int64_t probeFloat(std::int64_t steps);
std::uint32_t probeRead(const std::uint8_t* data, std::size_t bytes);

}  // namespace tandem::kernels::reference
