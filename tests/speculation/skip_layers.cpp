// skip_layers IN.gguf OUT.gguf LAYER... : cuts a model down to some of its layers (docs/speculation.md).
#include <cstdio>
#include <cstdlib>

#include "tests/speculation/layer_skipping.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("Usage: skip_layers IN.gguf OUT.gguf LAYER...\n", stderr);
    return 2;
  }
  std::vector<int> kept;
  for (int i = 3; i < argc; ++i)
    kept.push_back(std::atoi(argv[i]));
  const tandem::Status status = tandem::test::skipLayers(argv[1], kept, argv[2]);
  if (!status) std::fprintf(stderr, "skip_layers: %s\n", status.error().describe().c_str());
  return status ? 0 : 2;
}
