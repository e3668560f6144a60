#include "app/conversation/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "engine/speculation/options.h"

namespace tandem {

namespace {

using Json = nlohmann::json;

// The double with the float's shortest digits: 0.7f is written 0.7, and reads back as 0.7f.
double shortest(float value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  double number = value;
  std::from_chars(digits.data(), end, number);
  return number;
}

Json parse(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json::object();
}

// The value at `key`, when there is one of the right kind.
template <class T>
void read(const Json& json, const char* key, T& value) {
  const auto found = json.find(key);
  if (found == json.end()) return;
  bool fits = found->is_number_integer();
  if constexpr (std::is_same_v<T, bool>) fits = found->is_boolean();
  if constexpr (std::is_floating_point_v<T>) fits = found->is_number();
  if (fits) value = found->get<T>();
}

// The enumerator up to `last` whose name stands at `key`.
template <class T>
void readName(const Json& json, const char* key, const char* (*name)(T), T last, T& value) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (found->get_ref<const std::string&>() == name(static_cast<T>(i))) value = static_cast<T>(i);
  }
}

void readByOrigin(const Json& json, const char* key, int (&counts)[kTokenOriginCount]) {
  const auto by = json.find(key);
  if (by == json.end() || !by->is_array()) return;
  for (std::size_t i = 0; i < std::min<std::size_t>(by->size(), kTokenOriginCount); ++i) {
    if ((*by)[i].is_number_integer()) counts[i] = (*by)[i].get<int>();
  }
}

// {"token id": bias}
Json biasObject(const std::vector<TokenBias>& biases) {
  Json json = Json::object();
  for (const TokenBias& b : biases)
    json[std::to_string(b.token)] = shortest(b.bias);
  return json;
}

void readBias(const Json& json, std::vector<TokenBias>& biases) {
  const auto found = json.find("logit_bias");
  if (found == json.end() || !found->is_object()) return;
  biases.clear();
  for (const auto& [key, value] : found->items()) {
    TokenId token = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (error == std::errc() && end == key.data() + key.size() && value.is_number())
      biases.push_back({token, value.get<float>()});
  }
}

Json samplingObject(const SamplingParams& sampling) {
  return {{"temperature", shortest(sampling.temperature)},
          {"top_k", sampling.topK},
          {"top_p", shortest(sampling.topP)},
          {"min_p", shortest(sampling.minP)},
          {"seed", sampling.seed},
          {"choice", sampling.choice},
          {"repetition_penalty", shortest(sampling.repetitionPenalty)},
          {"presence_penalty", shortest(sampling.presencePenalty)},
          {"frequency_penalty", shortest(sampling.frequencyPenalty)},
          {"penalty_window", sampling.penaltyWindow},
          {"no_repeat_ngram_size", sampling.noRepeatNgramSize},
          {"logit_bias", biasObject(sampling.logitBias)}};
}

void readSampling(const Json& json, SamplingParams& sampling) {
  read(json, "temperature", sampling.temperature);
  read(json, "top_k", sampling.topK);
  read(json, "top_p", sampling.topP);
  read(json, "min_p", sampling.minP);
  read(json, "seed", sampling.seed);
  read(json, "choice", sampling.choice);
  read(json, "repetition_penalty", sampling.repetitionPenalty);
  read(json, "presence_penalty", sampling.presencePenalty);
  read(json, "frequency_penalty", sampling.frequencyPenalty);
  read(json, "penalty_window", sampling.penaltyWindow);
  read(json, "no_repeat_ngram_size", sampling.noRepeatNgramSize);
  readBias(json, sampling.logitBias);
}

// The elements of the right kind.
template <class T>
void readList(const Json& json, const char* key, std::vector<T>& values) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return;
  values.clear();
  for (const Json& value : *found) {
    const bool fits = std::is_same_v<T, std::string> ? value.is_string() : value.is_number_integer();
    if (fits) values.push_back(value.get<T>());
  }
}

// A name that is not known leaves what is there. Version 0.1.0 wrote the nodes of a chain as draft_width.
void readSpeculation(const Json& json, SpeculationOptions& speculation) {
  const auto drafter = json.find("drafter");
  if (drafter != json.end() && drafter->is_string()) {
    const Status known = setDrafters(drafter->get_ref<const std::string&>(), speculation);
    static_cast<void>(known);
  }
  int width = 0;
  read(json, "draft_width", width);
  auto shape = draftShapeByName("chain" + std::to_string(width));
  if (const auto name = json.find("draft_shape"); name != json.end() && name->is_string())
    shape = draftShapeByName(name->get_ref<const std::string&>());
  if (shape) speculation.shape = *shape;
}

Json settingsObject(const AnswerSettings& settings) {
  Json json = samplingObject(settings.sampling);
  if (!settings.seedGiven) json["seed"] = nullptr;
  json["max_tokens"] = settings.maxTokens;
  json["min_tokens"] = settings.minTokens;
  json["reasoning_budget"] = settings.reasoning.budget;
  json["stall_close"] = settings.reasoning.stallClose;
  json["stop"] = settings.stop;
  json["stop_token_ids"] = settings.stopTokens;
  json["drafter"] = drafterNames(settings.speculation);
  json["draft_shape"] = draftShapeName(settings.speculation.shape);
  json["keep_texts"] = settings.keepsTexts;
  json["regenerate_samples"] = settings.regenerateSamples;
  return json;
}

}  // namespace

std::string settingsToJson(const AnswerSettings& settings, const AnswerSettings& defaults) {
  const Json base = settingsObject(defaults);
  const Json all = settingsObject(settings);
  Json json = Json::object();
  for (const auto& [key, value] : all.items()) {
    if (value != base[key]) json[key] = value;
  }
  // A stop string may hold any bytes; those that are no UTF-8 are written as U+FFFD.
  return json.empty() ? std::string() : json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

AnswerSettings settingsFromJson(std::string_view text, const AnswerSettings& defaults) {
  const Json json = parse(text);
  AnswerSettings settings = defaults;
  readSampling(json, settings.sampling);
  if (const auto seed = json.find("seed"); seed != json.end()) settings.seedGiven = seed->is_number_integer();
  read(json, "max_tokens", settings.maxTokens);
  read(json, "min_tokens", settings.minTokens);
  read(json, "reasoning_budget", settings.reasoning.budget);
  read(json, "stall_close", settings.reasoning.stallClose);
  readList(json, "stop", settings.stop);
  readList(json, "stop_token_ids", settings.stopTokens);
  readSpeculation(json, settings.speculation);
  read(json, "keep_texts", settings.keepsTexts);
  read(json, "regenerate_samples", settings.regenerateSamples);
  return settings;
}

std::string extraToJson(const SamplingParams& sampling, const AnswerSettings& settings, std::string_view kind,
                        const ReasoningStats& reasoning,
                        const std::optional<service::ChosenSampling>& chosen) {
  Json options = samplingObject(sampling);
  const Json usual = samplingObject(SamplingParams());
  for (const char* column : {"temperature", "top_k", "top_p", "min_p", "seed"})
    options.erase(column);
  for (auto it = options.begin(); it != options.end();)
    it = *it == usual[it.key()] ? options.erase(it) : std::next(it);
  if (options.contains("logit_bias")) options["logit_bias"] = sampling.logitBias.size();
  if (settings.reasoning.budget > 0) options["reasoning_budget"] = settings.reasoning.budget;
  if (settings.reasoning.stallClose) options["stall_close"] = true;
  if (settings.minTokens > 0) options["min_tokens"] = settings.minTokens;
  if (!settings.stop.empty()) options["stop"] = settings.stop.size();
  if (!settings.stopTokens.empty()) options["stop_token_ids"] = settings.stopTokens.size();

  Json extra = Json::object();
  if (kind == "regenerate" || kind == "loop_escape" || kind == "card")
    extra[std::string(kind)] = {{"seed", sampling.seed}};
  if (chosen && chosen->stepsBack > 0)
    extra[chosen->kind].update({{"reason", chosen->reason}, {"steps_back", chosen->stepsBack}});
  if (reasoning.closedEarly())
    extra["reasoning"] = {{"tokens", reasoning.tokens}, {"closed", reasoningEndName(reasoning.end)}};
  if (!options.empty()) extra["options"] = options;
  return extra.empty() ? std::string() : extra.dump();
}

std::string samplingToJson(const SamplingParams& sampling, std::string_view kind) {
  Json json = samplingObject(sampling);
  if (!kind.empty()) json["kind"] = kind;
  return json.dump();
}

SamplingParams samplingFromJson(std::string_view text) {
  SamplingParams sampling;
  readSampling(parse(text), sampling);
  return sampling;
}

std::string samplingKindFromJson(std::string_view text) {
  const Json json = parse(text);
  const auto kind = json.find("kind");
  return kind != json.end() && kind->is_string() ? kind->get<std::string>() : std::string();
}

std::string statsToJson(const GenerationStats& s) {
  const Json acceptedBy(s.acceptedBy), draftedBy(s.draftedBy);
  Json json{{"prompt_tokens", s.promptTokens},
            {"cached_tokens", s.cachedTokens},
            {"completion_tokens", s.completionTokens},
            {"queue_ms", s.queueMs},
            {"prefill_ms", s.prefillMs},
            {"ttft_ms", s.ttftMs},
            {"decode_ms", s.decodeMs},
            {"total_ms", s.totalMs},
            {"rounds", s.rounds},
            {"drafted", s.drafted},
            {"accepted", s.accepted},
            {"accepted_by", acceptedBy},
            {"drafted_by", draftedBy},
            {"finish", finishReasonName(s.finish)},
            {"seed", s.seed},
            {"logits_fingerprint", s.logitsFingerprint}};
  if (s.fromResponse) json["from_response"] = true;
  return json.dump();
}

std::optional<GenerationStats> statsFromJson(std::string_view text) {
  const Json json = parse(text);
  if (json.empty()) return std::nullopt;
  GenerationStats s;
  read(json, "prompt_tokens", s.promptTokens);
  read(json, "cached_tokens", s.cachedTokens);
  read(json, "completion_tokens", s.completionTokens);
  read(json, "queue_ms", s.queueMs);
  read(json, "prefill_ms", s.prefillMs);
  read(json, "ttft_ms", s.ttftMs);
  read(json, "decode_ms", s.decodeMs);
  read(json, "total_ms", s.totalMs);
  read(json, "rounds", s.rounds);
  read(json, "drafted", s.drafted);
  read(json, "accepted", s.accepted);
  readByOrigin(json, "accepted_by", s.acceptedBy);
  readByOrigin(json, "drafted_by", s.draftedBy);
  readName(json, "finish", finishReasonName, FinishReason::kStopToken, s.finish);
  read(json, "seed", s.seed);
  read(json, "logits_fingerprint", s.logitsFingerprint);
  read(json, "from_response", s.fromResponse);
  return s;
}

std::string acceptedByToJson(const GenerationStats& stats) {
  Json json = Json::object();
  for (int origin = 0; origin < kTokenOriginCount; ++origin) {
    if (stats.acceptedBy[origin] > 0) {
      json[tokenOriginName(static_cast<TokenOrigin>(origin))] = stats.acceptedBy[origin];
    }
  }
  return json.dump();
}

}  // namespace tandem
