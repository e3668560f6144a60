#include "app/cli/logits_of.h"

#include <algorithm>
#include <vector>

namespace tandem::cli {

Status logitsOf(Decoder& decoder, std::span<const TokenId> tokens, int first, int rows,
                const LogitsSink& sink) {
  Sequence sequence = decoder.newSequence();
  const int total = static_cast<int>(tokens.size());
  for (int done = 0; done < total;) {
    const bool silent = done < first;
    const int count = silent ? std::min(decoder.maxRows(), first - done)
                             : std::min({rows, decoder.maxRows(), total - done});
    const std::vector<int> all = firstRows(count);
    const Batch batch = Batch::chain(tokens.subspan(done, count), done);
    const std::span<const int> logitRows = silent ? std::span<const int>() : std::span<const int>(all);
    if (Status status = decoder.forward(sequence, batch, logitRows); !status) return status;
    for (const int row : logitRows) {
      if (Status status = sink(done + row, decoder.logits(row)); !status) return status;
    }
    if (Status status = decoder.commit(sequence, all); !status) return status;
    done += count;
  }
  return {};
}

}  // namespace tandem::cli
