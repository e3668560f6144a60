#include "app/cli/workloads.h"

#include "app/cli/prompt_list.h"
#include "app/cli/workload_texts.h"

namespace tandem::cli {
namespace {

struct Source {
  std::string_view name, text;
  bool drawn = false;  // at temperature 1 with seed 7, else greedy
};
constexpr Source kSources[] = {
    {"prose", kWorkload_prose}, {"chat", kWorkload_chat},   {"code", kWorkload_code},
    {"edit", kWorkload_edit},   {"quote", kWorkload_quote}, {"base64", kWorkload_base64, true},
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
    SamplingParams sampling;
    if (source.drawn) {
      sampling.temperature = 1;
      sampling.seed = 7;
    }
    workloads.push_back({std::string(source.name), std::move(*prompts), sampling});
  }
  if (workloads.empty()) {
    return badArgument("there is no workload '" + std::string(name) + "'; choose one of " + names,
                       "workload");
  }
  return workloads;
}

}  // namespace tandem::cli
