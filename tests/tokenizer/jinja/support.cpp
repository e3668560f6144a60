#include "tests/tokenizer/jinja/support.h"

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/gguf/file.h"
#include "tests/tokenizer/real_models.h"

namespace tandem::test {
namespace {

std::string readFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::filesystem::path dataFolder() {
  return std::filesystem::path(TANDEM_TEST_DATA) / "jinja";
}

}  // namespace

jinja::CivilTime fixedTime() {
  return {2024, 7, 26, 15, 4, 5, 123456};
}

Json readJinjaJson(const std::string& name) {
  return Json::parse(readFile(dataFolder() / name), nullptr, false);
}

std::vector<NamedSource> readTemplates() {
  std::vector<NamedSource> templates;
  for (const auto& entry : std::filesystem::directory_iterator(dataFolder() / "templates")) {
    templates.push_back({entry.path().stem().string(), readFile(entry.path())});
  }
  std::sort(templates.begin(), templates.end(),
            [](const NamedSource& a, const NamedSource& b) { return a.name < b.name; });
  return templates;
}

std::string modelTemplate() {
  const auto file = gguf::File::open(realModelPath(kSmolLm2));
  if (!file) return {};
  const auto source = (*file)->getString("tokenizer.chat_template");
  return source.ok() && *source ? std::string(**source) : std::string();
}

Rendered renderSource(std::string_view source, const Json& variables) {
  const auto parsed = jinja::Template::parse(source);
  if (const auto* failure = std::get_if<jinja::Failure>(&parsed)) return *failure;
  const jinja::Variables given{
      .data = &variables, .markers = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}, .clock = fixedTime};
  return std::get<jinja::Template>(parsed).render(given);
}

ChatRequest requestOf(const Json& conversation) {
  ChatRequest request;
  request.clock = fixedTime;
  for (const auto& [name, value] : conversation.items()) {
    if (name == "tools") {
      request.tools = value;
    } else if (name == "documents") {
      request.documents = value;
    } else if (name == "add_generation_prompt") {
      request.addGenerationPrompt = value.get<bool>();
    } else if (name != "messages") {
      request.variables[name] = value;
    }
  }
  for (const Json& entry : conversation.at("messages")) {
    ChatMessage message{.role = entry.at("role").get<std::string>()};
    for (const auto& [name, value] : entry.items()) {
      if (name == "content") {
        message.content = value;
      } else if (name != "role") {
        message.extra[name] = value;
      }
    }
    request.messages.push_back(std::move(message));
  }
  return request;
}

std::string kindName(jinja::FailureKind kind) {
  constexpr const char* kNames[] = {"syntax", "undefined", "security", "raised", "runtime", "budget"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string describe(const Rendered& rendered) {
  if (const auto* text = std::get_if<TaggedText>(&rendered)) return "text: " + text->text();
  const auto& failure = std::get<jinja::Failure>(rendered);
  return kindName(failure.kind) + " (line " + std::to_string(failure.line) + "): " + failure.message;
}

std::string originsOf(const TaggedText& text) {
  std::string origins;
  for (const TaggedText::Run& run : text.runs())
    origins.append(run.length, run.fromTemplate ? 'T' : 'd');
  return origins;
}

double threadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

namespace {

// Seconds that a fixed piece of work takes this thread now: strings put in order and joined, as templates do.
double workSeconds() {
  const double begin = threadSeconds();
  std::map<std::string, std::string> map;
  for (int i = 0; i < 6000; ++i) {
    const std::string key = std::to_string(static_cast<std::uint32_t>(i) * 2654435761u);
    map[key] = map.empty() ? key : key + map.begin()->first;
  }
  std::size_t size = 0;
  for (const auto& [key, value] : map)
    size += value.size();
  const volatile std::size_t kept = size;
  static_cast<void>(kept);
  return threadSeconds() - begin;
}

}  // namespace

bool inTime(double seconds, double bound) {
  constexpr double kUndisturbed = 0.002;  // workSeconds() of that core in a release build
  return seconds < bound || seconds < bound * (workSeconds() / kUndisturbed);
}

}  // namespace tandem::test
