#include "app/cli/workloads.h"

#include "app/cli/prompt_list.h"
#include "app/cli/workload_texts.h"

namespace tandem::cli {
namespace {

constexpr SamplingParams kDrawn = {.temperature = 1.0f, .seed = 7};

struct Source {
  std::string_view name, text;
  SamplingParams sampling;
};
constexpr Source kSources[] = {
    {"prose", kWorkload_prose, {}}, {"chat", kWorkload_chat, {}},   {"code", kWorkload_code, {}},
    {"edit", kWorkload_edit, {}},   {"quote", kWorkload_quote, {}}, {"base64", kWorkload_base64, kDrawn},
};

}  // namespace

Result<std::vector<Workload>> workloadsByName(std::string_view name) {
  std::vector<Workload> workloads;
  std::string names = "all";
  for (const Source& source : kSources) {
    names += ", " + std::string(source.name);
    if (name != "all" && name != source.name) continue;
    auto prompts = parsePrompts(source.text);
    if (!prompts) return prompts.error();
    workloads.push_back({std::string(source.name), std::move(*prompts), source.sampling});
  }
  if (workloads.empty()) {
    return badArgument("there is no workload '" + std::string(name) + "'; choose one of " + names,
                       "workload");
  }
  return workloads;
}

}  // namespace tandem::cli
