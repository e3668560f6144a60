#include <cstdio>

#include "app/cli/bench_speed.h"

namespace tandem::cli {
namespace {

constexpr double kGiga = 1e9;

nlohmann::json peakJson(const measure::Peak& peak, const char* unit) {
  return {{unit, peak.perSecond / kGiga}, {"threads", peak.threads}};
}

nlohmann::json peaksJson(const measure::Peaks& p) {
  nlohmann::json json = {{"cache_bytes", p.cacheBytes},
                         {"memory", peakJson(p.memory, "gigabytes_per_second")},
                         {"model", peakJson(p.model, "gigabytes_per_second")},
                         {"int8", peakJson(p.int8, "gmacs_per_second")},
                         {"fp32", peakJson(p.fp32, "gmacs_per_second")},
                         {"read_binds", p.modelBinds() ? "model" : "memory"}};
  json["memory"]["buffer_bytes"] = p.memoryBuffer;
  json["model"]["buffer_bytes"] = p.modelBuffer;
  return json;
}

// Tokens per second; the most comes from the least time.
Spread rateOf(const SpeedLine& line) {
  const double tokenMs = line.tokens * 1000.0;
  return {tokenMs / line.ms.median, tokenMs / line.ms.most, tokenMs / line.ms.least};
}

nlohmann::json linesJson(const std::vector<SpeedLine>& lines, const char* size) {
  nlohmann::json array = nlohmann::json::array();
  for (const SpeedLine& line : lines) {
    nlohmann::json json = {{size, line.size},
                           {"tokens", line.tokens},
                           {"ms", spreadJson(line.ms)},
                           {"tokens_per_second", spreadJson(rateOf(line))},
                           {"bytes", line.work.bytes},
                           {"multiply_adds", line.work.multiplyAdds()},
                           {"gigabytes_per_second", line.bytesPerSecond() / kGiga},
                           {"gmacs_per_second", line.multiplyAddsPerSecond() / kGiga}};
    if (line.firstToken) json["first_token_ms"] = spreadJson(*line.firstToken);
    if (line.shares) {
      json["read_share"] = line.shares->read;
      json["compute_share"] = line.shares->compute;
    }
    array.push_back(std::move(json));
  }
  return array;
}

std::string megabytes(std::size_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

void printPeaks(const measure::Peaks& p) {
  const auto line = [](const char* name, const measure::Peak& peak, const char* unit, const std::string& of) {
    std::printf("  %-8s %8.1f %s with %d thread%s%s\n", name, peak.perSecond / kGiga, unit, peak.threads,
                peak.threads == 1 ? "" : "s", of.c_str());
  };
  std::puts("peaks");
  line("memory", p.memory, "GB/s", ", a buffer of " + megabytes(p.memoryBuffer));
  line("model", p.model, "GB/s", ", a buffer of " + megabytes(p.modelBuffer) + ", as large as the model");
  line("int8", p.int8, "GMAC/s", "");
  line("fp32", p.fp32, "GMAC/s", "");
  std::printf("  The last level of cache has %s; %s binds.\n", megabytes(p.cacheBytes).c_str(),
              p.modelBinds() ? "reading the model from it" : "reading memory");
}

std::string shareText(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

void printLines(const char* title, const char* size, const std::vector<SpeedLine>& lines, bool rates) {
  if (lines.empty()) return;
  std::printf("%s\n  %7s  %-29s", title, size, rates ? "tokens/s" : "ms of a pass");
  if (lines.front().firstToken) std::printf("  %14s", "first token ms");
  std::printf("  %7s  %7s  %7s  %7s\n", "GB/s", "of peak", "GMAC/s", "of peak");
  for (const SpeedLine& line : lines) {
    std::printf("  %7d  %-29s", line.size, spreadText(rates ? rateOf(line) : line.ms).c_str());
    if (line.firstToken) std::printf("  %14.1f", line.firstToken->median);
    std::printf("  %7.2f  %7s  %7.2f  %7s\n", line.bytesPerSecond() / kGiga,
                line.shares ? shareText(line.shares->read).c_str() : "", line.multiplyAddsPerSecond() / kGiga,
                line.shares ? shareText(line.shares->compute).c_str() : "");
  }
}

// A line's rate of multiply-adds as a share of that with the most rows.
double shareOfMostRows(const SpeedReport& report, const SpeedLine& line) {
  return line.multiplyAddsPerSecond() / report.products.back().multiplyAddsPerSecond();
}

}  // namespace

nlohmann::json speedJson(const SpeedReport& r) {
  nlohmann::json json = {{"model", r.model},
                         {"model_fingerprint", r.fingerprint},
                         {"kernels", r.kernels},
                         {"threads", r.threads},
                         {"runs", r.runs},
                         {"layer_bytes", r.layers.bytes},
                         {"head_bytes", r.head.bytes},
                         {"layer_multiply_adds", r.layers.multiplyAdds()},
                         {"head_multiply_adds", r.head.multiplyAdds()}};
  if (r.peaks) json["peaks"] = peaksJson(*r.peaks);
  if (!r.prefill.empty()) json["prefill"] = linesJson(r.prefill, "prompt_tokens");
  if (!r.decode.empty()) json["decode"] = linesJson(r.decode, "context");
  if (!r.staircase.empty()) json["staircase"] = linesJson(r.staircase, "rows");
  if (!r.products.empty()) {
    nlohmann::json& products = json["products"] = linesJson(r.products, "rows");
    for (std::size_t i = 0; i < r.products.size(); ++i)
      products[i]["share_of_most_rows"] = shareOfMostRows(r, r.products[i]);
  }
  if (!r.throughput.empty()) json["throughput"] = linesJson(r.throughput, "parallel");
  return json;
}

void printSpeed(const SpeedReport& r) {
  std::printf("%s, kernels %s, %d thread%s, medians of %d (least to most)\n", r.model.c_str(),
              r.kernels.c_str(), r.threads, r.threads == 1 ? "" : "s", r.runs);
  std::printf("a row: layers %.1f MB and %.1f M multiply-adds, head %.1f MB and %.1f M\n\n",
              r.layers.bytes / 1e6, r.layers.multiplyAdds() / 1e6, r.head.bytes / 1e6,
              r.head.multiplyAdds() / 1e6);
  if (r.peaks) printPeaks(*r.peaks);
  printLines("prefill", "prompt", r.prefill, true);
  printLines("decode", "context", r.decode, true);
  printLines("staircase: one pass, logits of every row", "rows", r.staircase, false);
  printLines("products: the layers' matrices alone", "rows", r.products, false);
  for (const SpeedLine& line : r.products) {
    if (&line == &r.products.back()) break;
    std::printf("  %d row%s: %s of the GMAC/s with %d rows\n", line.size, line.size == 1 ? "" : "s",
                shareText(shareOfMostRows(r, line)).c_str(), r.products.back().size);
  }
  printLines("throughput: answers to short prompts at once, all their tokens", "at once", r.throughput, true);
  if (r.throughput.size() > 1) {
    const SpeedLine &one = r.throughput.front(), &all = r.throughput.back();
    std::printf("  %d at once: %.2f times the rate of one\n", all.size,
                rateOf(all).median / rateOf(one).median);
  }
}

std::string SpeedReport::impossible() const {
  const std::pair<const char*, const std::vector<SpeedLine>*> sections[] = {{"prefill", &prefill},
                                                                            {"decode", &decode},
                                                                            {"staircase", &staircase},
                                                                            {"products", &products},
                                                                            {"throughput", &throughput}};
  for (const auto& [name, lines] : sections) {
    for (const SpeedLine& line : *lines) {
      if (!line.shares || !line.shares->impossible()) continue;
      const bool reads = line.shares->read > 1;
      return std::string(name) + " " + std::to_string(line.size) + " comes to " +
             shareText(reads ? line.shares->read : line.shares->compute) + " of the peak of " +
             (reads ? "reading" : "computing") +
             ", more than the machine can do: the peak or the figure is wrong.";
    }
  }
  return "";
}

}  // namespace tandem::cli
