#include "app/cli/agreement_results.h"

#include <xxhash.h>

#include <cerrno>
#include <cstring>

#include "app/cli/command.h"
#include "app/cli/statistics.h"

namespace tandem::cli {
namespace {

using agreement::Cell;
using agreement::CellResult;
using agreement::FirstDifference;

Error cannotUse(const std::string& path) {
  return {ErrorCode::kIo, "The results file " + path + " cannot be used: " + std::strerror(errno) + ".",
          "out"};
}

// Every result of the file, also those of other conditions. A line that is no result gives nothing.
std::optional<std::pair<std::string, CellResult>> parseLine(const std::string& line) {
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  try {
    CellResult r;
    r.prompts = json.at("prompts");
    r.tokens = json.at("tokens");
    r.differingTokens = json.at("differing_tokens");
    r.differingPrompts = json.at("differing_prompts");
    r.differingBits = json.at("differing_bits");
    r.acceptedRows = json.at("accepted_rows");
    r.rejectedRows = json.at("rejected_rows");
    r.rounds = json.at("rounds");
    r.drafted = json.at("drafted");
    r.accepted = json.at("accepted");
    r.rejected = json.at("rejected");
    r.seconds = json.at("seconds");
    r.error = json.value("error", "");
    if (const auto first = json.find("first"); first != json.end()) {
      r.first = FirstDifference{first->at("token"), first->at("gap_ulps"), first->at("after_end")};
    }
    return std::pair{json.at("key").get<std::string>(), r};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

nlohmann::json resultJson(const CellResult& r) {
  nlohmann::json json = {{"prompts", r.prompts},
                         {"tokens", r.tokens},
                         {"differing_tokens", r.differingTokens},
                         {"differing_prompts", r.differingPrompts},
                         {"differing_bits", r.differingBits},
                         {"accepted_rows", r.acceptedRows},
                         {"rejected_rows", r.rejectedRows},
                         {"rounds", r.rounds},
                         {"drafted", r.drafted},
                         {"accepted", r.accepted},
                         {"rejected", r.rejected},
                         {"seconds", r.seconds}};
  if (!r.error.empty()) json["error"] = r.error;
  if (r.first) {
    json["first"] = {{"prompt", r.firstPrompt},
                     {"token", r.first->token},
                     {"gap_ulps", r.first->gapUlps},
                     {"after_end", r.first->afterEnd}};
  }
  return json;
}

Result<ResultsFile> ResultsFile::open(const std::string& path, std::string conditions) {
  ResultsFile results;
  results.path_ = path;
  results.conditions_ = std::move(conditions);
  if (path.empty()) return results;
  results.file_.reset(std::fopen(path.c_str(), "a+b"));
  if (!results.file_) return cannotUse(path);
  const Result<std::string> text = readFile(path);
  if (!text) return text.error();

  const std::string prefix = results.conditions_ + " ";
  std::size_t at = 0;
  while (at < text->size()) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    if (auto line = parseLine(text->substr(at, end - at))) {
      if (line->first.starts_with(prefix)) {
        results.results_.insert(std::move(*line));
      } else {
        ++results.others_;
      }
    }
    at = end + 1;
  }
  // What is added must not go on in a line that was torn.
  if (!text->empty() && text->back() != '\n' && std::fputc('\n', results.file_.get()) == EOF)
    return cannotUse(path);
  return results;
}

std::string ResultsFile::keyOf(std::span<const TokenId> prompt, const Cell& cell) const {
  return conditions_ + " " + hex64(XXH3_64bits(prompt.data(), prompt.size_bytes())) + " " + cell.name();
}

const CellResult* ResultsFile::find(std::span<const TokenId> prompt, const Cell& cell) const {
  const auto found = results_.find(keyOf(prompt, cell));
  return found == results_.end() ? nullptr : &found->second;
}

Status ResultsFile::add(std::span<const TokenId> prompt, const Cell& cell, const CellResult& result) {
  if (!file_) return {};
  nlohmann::json json = resultJson(result);
  json["key"] = keyOf(prompt, cell);
  const std::string line = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  return written && std::fflush(file_.get()) == 0 ? Status() : Status(cannotUse(path_));
}

Result<std::string> programFingerprint() {
  const Result<std::string> bytes = readFile("/proc/self/exe");
  if (!bytes) return bytes.error();
  return hex64(XXH3_64bits(bytes->data(), bytes->size()));
}

}  // namespace tandem::cli
