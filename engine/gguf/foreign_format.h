// Says in one sentence what a file is that is not a GGUF file of version 2 or 3 (a Git LFS pointer, a web
// page, an archive, a big-endian or version 1 model, ...). Pure, callable from any thread.
#pragma once

#include <cstddef>
#include <span>

#include "engine/base/status.h"

namespace tandem::gguf {

// Success when `file` starts with the magic and a version this program reads. Errors: kCorruptFile for what a
// failed download leaves behind, kUnsupported for whole files of another format.
Status checkFormat(std::span<const std::byte> file);

}  // namespace tandem::gguf
