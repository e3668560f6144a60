// tandem-cli agreement: the gate on a model and prompts of one's own choice.
#include "engine/agreement/agreement.h"

#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>

#include "app/cli/agreement_results.h"
#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"
#include "app/cli/interrupt.h"
#include "app/cli/prompt_list.h"
#include "engine/agreement/in_company.h"
#include "engine/agreement/pairwise.h"
#include "storage/store.h"

namespace tandem::cli {
namespace {

using agreement::Cell;
using agreement::CellResult;
using agreement::Gate;
using agreement::GateOptions;

constexpr Usage kUsage = {
    "agreement", "--prompts FILE | --ids FILE [options]",
    "Decodes every prompt plainly and with every drafter in every shape, and compares tokens and the bits "
    "of\n"
    "logits: of all rows that a token was chosen from, and of a share of the rows that were drafted and "
    "rejected.\n"
    "Ends with 1 when anything differs, or when a drafter did not do what it should. Prompts stand one a "
    "line,\n"
    "with \\n for a newline, and are continued as they are."};

struct AgreementCommand {
  CommonOptions common;
  EngineChoice engine;
  std::string prompts, ids, out;
  std::string drafters = "own-text,store,half-right,wrong,oracle,random";
  std::string shapes = "chain7,chain15,tree15,tree31";
  std::string options = "plain";
  std::string parallel = "1";
  std::optional<std::uint64_t> seed;
  GateOptions gate;
  bool noEnd = false, pairwise = false;

  OptionTable table() {
    OptionTable table = {
        {"--prompts", 0, "FILE", "texts, one a line; - is standard input", text(prompts)},
        {"--ids", 0, "FILE", "token ids in place of texts, one prompt a line", text(ids)},
        {"--tokens", 'n', "N", "tokens of each answer, two at least (64)",
         wholeNumber(gate.tokens, 2, 1 << 20)},
        {"--drafters", 0, "LIST", "names of --spec; several that draft together are joined with +",
         text(drafters)},
        {"--shapes", 0, "LIST", "names of --shape", text(shapes)},
        {"--options", 0, "LIST",
         "request options: all, or a list of plain, penalties, no-repeat, bias, combined, json-schema, "
         "regex, tool-call, sampled, penalties+sampled, ...",
         text(options)},
        {"--parallel", 0, "LIST", "requests at once: with N each answer is written among N - 1 others (1)",
         text(parallel)},
        {"--pairwise", 0, "", "not all combinations, but so many that every two values meet in one",
         on(pairwise)},
        {"--no-end", 0, "", "go on behind end tokens, where the answer need not have a form", on(noEnd)},
        {"--seed", 0, "S", "of the drafters' and the sample's dice, and of sampled answers (1)",
         wholeNumber(seed)},
        {"--out", 0, "FILE", "results so far: a run that was stopped goes on from there", text(out)},
    };
    append(table, draftModelTable(engine));
    append(table, engineTable(engine));
    return table;
  }
};

std::int64_t nowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// All that one run of the command works on.
struct Work {
  const AgreementCommand& command;
  std::shared_ptr<const Model> model;
  const kernels::KernelSet& kernels;
  std::vector<std::vector<TokenId>> prompts;
  std::vector<Cell> cells;
  std::vector<CellResult> totals;  // one for each cell
  int done = 0, resumed = 0;       // results
  std::int64_t startedMs = nowMs();

  const char* cacheType() const { return kernels::cacheTypeName(command.engine.engine.cacheType); }
  bool passed() const {
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (!failuresOf(cells[c], totals[c]).empty()) return false;
    return true;
  }
};

Result<Work> prepare(const AgreementCommand& command) {
  if (command.prompts.empty() == command.ids.empty()) {
    return badArgument("Give the prompts either with --prompts FILE or with --ids FILE.", "prompts");
  }
  auto cells = agreement::cellsOf(command.drafters, command.shapes, command.options, command.parallel);
  if (!cells) return cells.error();
  if (command.pairwise) cells = agreement::pairwiseCover(*cells);
  auto model = loadModel(command.common, command.engine);
  if (!model) return model.error();
  const Tokenizer& tokenizer = (*model)->tokenizer();
  auto prompts =
      command.ids.empty() ? readPrompts(command.prompts, tokenizer) : readPromptIds(command.ids, tokenizer);
  if (!prompts) return prompts.error();
  const kernels::KernelSet* set = command.engine.engine.kernels;
  std::vector<CellResult> totals(cells->size());
  return Work{command,           *model,           set ? *set : kernels::bestKernels(), std::move(*prompts),
              std::move(*cells), std::move(totals)};
}

// What a result depends on besides its prompt and its cell. Threads are not among it.
Result<std::string> conditionsOf(const Work& work, Generator& generator) {
  const auto program = programFingerprint();
  if (!program) return program.error();
  const GateOptions& gate = work.command.gate;
  const auto& draft = generator.speculation().draftModel;
  return *program + " " + work.model->fingerprint() + " " + work.kernels.name + " " + work.cacheType() +
         " n" + std::to_string(gate.tokens) + (work.command.noEnd ? " no-end" : "") + " seed" +
         std::to_string(work.command.seed.value_or(1)) +
         (draft ? " draft " + draft->model().fingerprint() : "");
}

void showProgress(const Work& work) {
  if (work.command.common.json || isatty(STDERR_FILENO) != 1) return;
  std::fprintf(stderr, "\r%d of %zu", work.done, work.prompts.size() * work.cells.size());
  if (static_cast<std::size_t>(work.done) == work.prompts.size() * work.cells.size())
    std::fputc('\n', stderr);
}

// Every cell on every prompt, prompt by prompt: the plain run is made once for each set of options.
Status runAll(Work& work, Gate& gate, ResultsFile& file) {
  for (std::size_t p = 0; p < work.prompts.size(); ++p) {
    const std::vector<TokenId>& prompt = work.prompts[p];
    std::string ready;  // the options that the plain run was made with
    for (std::size_t c = 0; c < work.cells.size(); ++c) {
      Result<CellResult> result = CellResult();
      if (const CellResult* kept = file.find(prompt, work.cells[c])) {
        result = *kept;
        ++work.resumed;
      } else {
        if (const std::string& options = work.cells[c].options; options != ready) {
          if (Status s = gate.usePrompt(prompt, options); !s.ok()) return s;
          ready = options;
        }
        result = gate.run(work.cells[c]);
        if (!result) return result.status();
        if (Status s = file.add(prompt, work.cells[c], *result); !s.ok()) return s;
      }
      work.totals[c].add(*result, static_cast<int>(p));
      ++work.done;
      showProgress(work);
    }
  }
  return {};
}

nlohmann::json cellsJson(const Work& work) {
  nlohmann::json cells = nlohmann::json::array();
  for (std::size_t c = 0; c < work.cells.size(); ++c) {
    nlohmann::json cell = resultJson(work.totals[c]);
    const auto failures = failuresOf(work.cells[c], work.totals[c]);
    cell["drafter"] = work.cells[c].drafter;
    cell["shape"] = work.cells[c].shape;
    cell["options"] = work.cells[c].options;
    cell["parallel"] = work.cells[c].parallel;
    cell["failures"] = failures;
    cell["passed"] = failures.empty();
    cells.push_back(std::move(cell));
  }
  return cells;
}

void printRow(const Cell& cell, const CellResult& r) {
  std::printf("%-11s %-8s %-19s %3d %5d %7" PRId64 " %7" PRId64 " %9" PRIu64 " %9" PRId64 " %9" PRId64
              " %8" PRId64 " %8" PRId64 " %8" PRId64 " %8.1f  ",
              cell.drafter.c_str(), cell.shape.c_str(), cell.options.c_str(), cell.parallel, r.prompts,
              r.tokens, r.differingTokens, r.differingBits, r.acceptedRows, r.rejectedRows, r.drafted,
              r.accepted, r.rejected, r.seconds);
  const auto failures = failuresOf(cell, r);
  std::string verdict = failures.empty() ? "identical" : "FAIL: ";
  for (std::size_t i = 0; i < failures.size(); ++i)
    verdict += (i == 0 ? "" : ", ") + failures[i];
  std::puts(verdict.c_str());
  if (r.first) {
    std::printf("    first: prompt %d, token %d, %s the answer's end, the two best %.2f BF16 ulps apart%s\n",
                r.firstPrompt + 1, r.first->token + 1, r.first->afterEnd ? "behind" : "before",
                r.first->gapUlps, r.first->gapUlps > 1 ? ": no near tie" : "");
  }
}

void printTable(const Work& work) {
  std::puts(
      "                                             at             tokens            bits         rows "
      "compared\n"
      "drafter     shape    options             once prompts  tokens  differ    differ  accepted  rejected  "
      "drafted "
      "accepted rejected "
      " "
      "seconds");
  for (std::size_t c = 0; c < work.cells.size(); ++c)
    printRow(work.cells[c], work.totals[c]);
  std::printf("%s: %s\n", work.model->displayName().c_str(),
              work.passed() ? "every cell writes the plain text" : "not every cell writes the plain text");
}

// Leaves the run in the store of the home, for the window's list.
Status keep(const Work& work) {
  const Result<Places> places = placesOf(work.command.common);
  if (!places) return places.status();
  if (const Status status = makePlaces(*places); !status) return status;
  const auto store = storage::Store::open(places->database().string());
  if (!store) return store.status();
  const storage::AgreementRunRow row{.startedMs = work.startedMs,
                                     .endedMs = nowMs(),
                                     .client = "cli",
                                     .model = work.model->displayName(),
                                     .fingerprint = work.model->fingerprint(),
                                     .kernels = work.kernels.name,
                                     .cacheType = work.cacheType(),
                                     .prompts = static_cast<int>(work.prompts.size()),
                                     .tokens = work.command.gate.tokens,
                                     .passed = work.passed(),
                                     .engineVersion = TANDEM_VERSION,
                                     .reportJson = cellsJson(work).dump()};
  return (*store)->write([&row](storage::Writer& writer) { return writer.addAgreementRun(row).status(); });
}

Result<int> judge(const AgreementCommand& command) {
  auto work = prepare(command);
  if (!work) return work.error();
  const DecoderOptions options{.kernels = &work->kernels,
                               .threads = command.engine.threads,
                               .cacheType = command.engine.engine.cacheType};
  auto reference = Decoder::create(work->model, options), subject = Decoder::create(work->model, options);
  if (!reference || !subject) return (reference ? subject : reference).error();
  Generator generator(**subject);
  if (const std::string& path = command.engine.draftModel; !path.empty()) {
    auto draft = DraftModel::load(path, *work->model, options);
    if (!draft) return draft.error();
    generator.speculation().draftModel = std::move(*draft);
  }
  const auto conditions = conditionsOf(*work, generator);
  if (!conditions) return conditions.error();
  auto file = ResultsFile::open(command.out, *conditions);
  if (!file) return file.error();
  if (file->others() > 0) {
    std::fprintf(stderr, "tandem-cli: %d results of another program, model or setting are left aside.\n",
                 file->others());
  }
  const Interrupt interrupt;
  GateOptions gateOptions = command.gate;
  gateOptions.endAtEndTokens = !command.noEnd;
  gateOptions.seed = command.seed.value_or(1);
  gateOptions.cancel = &interrupt.flag();
  const agreement::Subject alone = agreement::alone(generator, gateOptions.cancel);
  const agreement::Subject inCompany =
      agreement::inCompany(**subject, generator.speculation(), gateOptions.cancel);
  const auto either = [&](const Cell& cell, const Generation& request, const GenerationCallbacks& callbacks,
                          const std::shared_ptr<TextStore>& texts) {
    return (cell.parallel == 1 ? alone : inCompany)(cell, request, callbacks, texts);
  };
  Gate gate(**reference, either, gateOptions);
  if (const Status status = gate.checkForms(work->cells); !status) return status.error();
  if (const Status status = runAll(*work, gate, *file); !status) {
    if (status.error().code != ErrorCode::kCancelled) return status.error();
    std::fprintf(stderr, "tandem-cli: stopped after %d of %zu.\n", work->done,
                 work->prompts.size() * work->cells.size());
    return kCheckFailed;
  }
  if (command.common.json) {
    printJson({{"model", work->model->file().path()},
               {"fingerprint", work->model->fingerprint()},
               {"kernels", work->kernels.name},
               {"cache_type", work->cacheType()},
               {"prompts", work->prompts.size()},
               {"tokens", command.gate.tokens},
               {"ends", !command.noEnd},
               {"seed", gateOptions.seed},
               {"resumed", work->resumed},
               {"cells", cellsJson(*work)},
               {"passed", work->passed()}});
  } else {
    printTable(*work);
  }
  if (const Status status = keep(*work); !status) {
    std::fprintf(stderr, "tandem-cli: the run could not be stored: %s\n", status.error().message.c_str());
  }
  return work->passed() ? kDone : kCheckFailed;
}

}  // namespace

int agreementCommand(const Arguments& arguments) {
  AgreementCommand command;
  if (const auto status = readOptions(kUsage, command.table(), arguments, command.common)) return *status;
  const Result<int> status = judge(command);
  return status ? *status : fail(command.common, status.error());
}

}  // namespace tandem::cli
