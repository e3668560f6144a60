// tandem-cli cache: what the cache on disk holds, and the proof that it is right.
#include <charconv>
#include <cinttypes>
#include <cstdio>

#include "app/cli/commands.h"
#include "app/cli/engine_choice.h"
#include "app/cli/interrupt.h"
#include "engine/verify/text_proof.h"

namespace tandem::cli {
namespace {

using nlohmann::json;

constexpr Usage kUsage = {
    "cache", "ls | prove ID -m MODEL | drop ID | check",
    "The cache of texts on disk. ls lists its files; prove computes what a file holds "
    "anew with the model and\n"
    "compares every byte, and where one differs removes all files; drop removes a file; "
    "check reads every\n"
    "byte of all files and removes what cannot be used. prove and check end with 1 when "
    "something was wrong."};

const char* kindOf(const TextRow& row) {
  return row.kind == TextFileKind::kPages ? "pages" : cacheTierName(static_cast<CacheTier>(row.tier));
}

json rowJson(const TextRow& row) {
  return {{"id", row.id},
          {"kind", kindOf(row)},
          {"start", row.start},
          {"end", row.end},
          {"bytes", row.bytes},
          {"hits", row.hits},
          {"age_s", static_cast<double>(nowUs() - row.usedUs) / 1e6},
          {"model", row.model},
          {"conversation", row.conversation},
          {"file", row.file}};
}

int list(const CommonOptions& common, const TextFolder& folder) {
  std::vector<TextRowPtr> rows = folder.catalogue().rows();
  std::ranges::reverse(rows);  // what was used last first
  if (common.json) {
    json files = json::array();
    for (const TextRowPtr& row : rows)
      files.push_back(rowJson(*row));
    printJson({{"folder", folder.options().path}, {"bytes", folder.catalogue().bytes()}, {"files", files}});
    return kDone;
  }
  std::printf("%6s  %-10s  %15s  %10s  %5s  %9s  %12s  %s\n", "id", "kind", "tokens", "KiB", "hits", "age",
              "conversation", "model");
  for (const TextRowPtr& row : rows) {
    const std::string tokens = std::to_string(row->start) + " to " + std::to_string(row->end);
    std::printf("%6" PRId64 "  %-10s  %15s  %10" PRIu64 "  %5" PRId64 "  %7.1f h  %12" PRId64 "  %.8s\n",
                row->id, kindOf(*row), tokens.c_str(), (row->bytes + 1023) / 1024, row->hits,
                static_cast<double>(nowUs() - row->usedUs) / 3.6e9, row->conversation, row->model.c_str());
  }
  std::printf("%zu files, %.1f MiB, in %s\n", rows.size(),
              static_cast<double>(folder.catalogue().bytes()) / (1 << 20), folder.options().path.c_str());
  return kDone;
}

Result<TextRowPtr> rowOf(const TextFolder& folder, std::string_view name) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc() || end != name.data() + name.size())
    return badArgument("An id is a whole number.", "id");
  for (const TextRowPtr& row : folder.catalogue().rows()) {
    if (row->id == id) return row;
  }
  return Error{ErrorCode::kNotFound,
               "There is no file " + std::string(name) + " in the cache; tandem-cli cache ls lists them.",
               "id"};
}

int prove(const CommonOptions& common, const EngineChoice& choice, TextFolder& folder, const TextRow& row) {
  auto file = TextFileReader::open(folder.pathOf(row));
  if (!file)
    return fail(common, {file.error().code, "The file cannot be used: " + file.error().message + "."});
  const auto model = loadModel(common, choice);
  if (!model) return fail(common, model.error());
  const auto decoder =
      Decoder::create(*model, {.kernels = choice.engine.kernels,
                               .threads = choice.threads,
                               .cacheType = static_cast<kernels::CacheType>(file->head().key.cacheType)});
  if (!decoder) return fail(common, decoder.error());
  Interrupt interrupt;
  const auto proof = proveText(**decoder, std::move(*file), &interrupt.flag());
  if (!proof) return fail(common, proof.error());
  if (common.json) {
    printJson({{"id", row.id}, {"bytes", proof->bytes}, {"differing", proof->differing}});
  } else {
    std::printf("%s %d to %d: %" PRIu64 " bytes computed anew with %s, %" PRIu64 " differ\n", kindOf(row),
                row.start, row.end, proof->bytes, (*decoder)->kernels().name, proof->differing);
  }
  if (proof->differing == 0) return kDone;
  // What wrote this file wrote the others.
  if (const Status removed = folder.removeAll(); !removed) return fail(common, removed.error());
  if (!common.json) std::printf("no file is trusted any more: the cache was emptied\n");
  return kCheckFailed;
}

int check(const CommonOptions& common, TextFolder& folder) {
  std::vector<UnusableText> unusable;
  if (const Status swept = folder.sweep(true, unusable); !swept) return fail(common, swept.error());
  const std::size_t sound = folder.catalogue().rows().size();
  if (common.json) {
    json files = json::array();
    for (const UnusableText& file : unusable)
      files.push_back({{"file", file.file}, {"reason", file.reason}, {"bytes", file.bytes}});
    printJson({{"sound", sound}, {"removed", files}});
  } else {
    for (const UnusableText& file : unusable)
      std::printf("removed %s: %s\n", file.file.c_str(), file.reason.c_str());
    std::printf("%zu files are sound, %zu could not be used\n", sound, unusable.size());
  }
  return unusable.empty() ? kDone : kCheckFailed;
}

}  // namespace

int cacheCommand(const Arguments& arguments) {
  CommonOptions common;
  EngineChoice engine;
  Arguments names;
  if (const auto status = readOptions(kUsage, engineTable(engine), arguments, common, &names)) return *status;
  const std::string_view what = names.empty() ? std::string_view() : names.front();
  const bool named = what == "prove" || what == "drop";
  if ((what != "ls" && what != "check" && !named) || names.size() != (named ? 2u : 1u))
    return fail(common, badArgument("Say ls, prove ID, drop ID or check.", "cache"));
  const Result<Places> places = placesOf(common);
  if (!places) return fail(common, places.error());
  TextFolder folder(diskCache(*places, {}).folder, false);
  if (const Status opened = folder.open(); !opened) {
    return fail(common, {ErrorCode::kIo, "The cache in " + folder.options().path +
                                             " cannot be opened: " + opened.error().message + "."});
  }
  if (what == "ls") return list(common, folder);
  if (what == "check") return check(common, folder);
  const auto row = rowOf(folder, names[1]);
  if (!row) return fail(common, row.error());
  if (what == "prove") return prove(common, engine, folder, **row);
  const std::int64_t id = (*row)->id;
  return finish(common, folder.remove(std::span(&id, 1)));
}

}  // namespace tandem::cli
