// tandem-cli ppl: perplexity of a text, as llama.cpp counts it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"
#include "app/cli/logits_of.h"

namespace tandem::cli {
namespace {

constexpr Usage kUsage = {
    "ppl", "-f FILE [--ctx N] [--windows N] [options]",
    "Perplexity of a text, counted as llama.cpp does: the whole text is tokenised and cut into windows of "
    "--ctx\n"
    "tokens; where the vocabulary adds BOS it replaces the first token of each; the second half is scored."};

struct PplOptions {
  CommonOptions common;
  EngineChoice engine;
  std::string file;
  int window = 512;
  int windows = 0;

  OptionTable table() {
    OptionTable table = {
        {"--file", 'f', "FILE", "the text; - is standard input", text(file)},
        {"--ctx", 0, "N", "tokens of a window; 512", wholeNumber(window, 4, std::numeric_limits<int>::max())},
        {"--windows", 0, "N", "at most so many windows; 0: all",
         wholeNumber(windows, 0, std::numeric_limits<int>::max())},
    };
    append(table, engineTable(engine));
    return table;
  }
};

// Sums of -log p over scored tokens.
struct Score {
  double sum = 0, squares = 0;
  std::int64_t count = 0;

  void add(double loss) {
    sum += loss;
    squares += loss * loss;
    ++count;
  }
  double perplexity() const { return std::exp(sum / count); }
  // Standard error of the perplexity, from the variance of the losses.
  double error() const {
    const double mean = sum / count;
    const double variance = squares / count - mean * mean;
    return count > 1 && variance > 0 ? std::sqrt(variance / (count - 1)) * perplexity() : 0;
  }
};

// -log of the probability that the logits give to `target`.
double lossOf(std::span<const float> logits, TokenId target) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits)
    sum += std::exp(logit - highest);
  return std::log(sum) + highest - logits[target];
}

Status scoreWindow(Decoder& decoder, std::span<const TokenId> tokens, Score& score) {
  const int first = static_cast<int>(tokens.size()) / 2;
  // The last token predicts nothing that is in the window.
  return logitsOf(decoder, tokens.first(tokens.size() - 1), first, kLogitRows,
                  [&](int position, std::span<const float> logits) -> Status {
                    score.add(lossOf(logits, tokens[position + 1]));
                    return {};
                  });
}

Status measure(const PplOptions& options) {
  if (options.file.empty()) return badArgument("Say with -f FILE which text to read.", "file");
  const Result<std::string> text = readFile(options.file);
  if (!text) return text.status();
  const auto engine = loadEngine(options.common, options.engine);
  if (!engine) return engine.status();
  const Tokenizer& tokenizer = (*engine)->model()->tokenizer();
  auto tokens = tokenizer.encode(*text, Bos::kAsModel);
  if (!tokens) return tokens.status();
  if (options.window > (*engine)->info().contextLength) {
    return badArgument("--ctx " + std::to_string(options.window) + " is more than the model's context of " +
                           std::to_string((*engine)->info().contextLength) + ".",
                       "ctx");
  }
  int windows = static_cast<int>(tokens->size() / options.window);
  if (windows == 0) {
    return badArgument("The text has " + std::to_string(tokens->size()) + " tokens, and one window needs " +
                           std::to_string(options.window) + ".",
                       "file");
  }
  if (options.windows > 0) windows = std::min(windows, options.windows);

  Score score;
  for (int i = 0; i < windows; ++i) {
    const std::span<TokenId> window =
        std::span(*tokens).subspan(static_cast<std::size_t>(i) * options.window, options.window);
    if (tokenizer.addsBos()) window[0] = tokenizer.bosId();
    if (const Status status = scoreWindow((*engine)->decoder(), window, score); !status) return status;
    std::fprintf(stderr, "window %d of %d: %.4f\n", i + 1, windows, score.perplexity());
  }
  if (options.common.json) {
    printJson({{"perplexity", score.perplexity()},
               {"standard_error", score.error()},
               {"windows", windows},
               {"ctx", options.window},
               {"scored", score.count},
               {"model", (*engine)->info().name}});
  } else {
    std::printf("perplexity %.4f +/- %.4f (%d windows of %d tokens, %lld scored)\n", score.perplexity(),
                score.error(), windows, options.window, static_cast<long long>(score.count));
  }
  return {};
}

}  // namespace

int pplCommand(const Arguments& arguments) {
  PplOptions options;
  if (const auto status = readOptions(kUsage, options.table(), arguments, options.common)) return *status;
  return finish(options.common, measure(options));
}

}  // namespace tandem::cli
