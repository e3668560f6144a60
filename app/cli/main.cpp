// tandem-cli: the engine and the conversations from a terminal or a script. docs/cli.md is its manual.
#include <cstdio>
#include <exception>
#include <new>

#include "app/cli/command.h"
#include "app/cli/commands.h"

namespace {

using namespace tandem::cli;

struct Command {
  std::string_view name;
  const char* summary;
  int (*run)(const Arguments& arguments);
};

constexpr Command kCommands[] = {
    {"run", "one completion to standard output", runCommand},
    {"chat", "chat in the terminal, on the window's conversations", chatCommand},
    {"tokenize", "the token ids of a text", tokenizeCommand},
    {"detokenize", "the text of token ids", detokenizeCommand},
    {"logits", "the logits of every position, to a file", logitsCommand},
    {"inspect", "what a model file holds, and whether it will run", inspectCommand},
    {"ppl", "perplexity of a text", pplCommand},
    {"verify", "the engine proves itself on a model: 0 differing bits", verifyCommand},
    {"agreement", "every drafter and shape against plain decoding", agreementCommand},
    {"sampled-dist", "sampled answers, as served, against the target alone", sampledDistCommand},
    {"bench", "decode rates of fixed workloads, plain and speculative", benchCommand},
    {"cache", "the texts that are kept on disk, and their proof", cacheCommand},
    {"disk-restore-check", "one process goes on from another's files, bit for bit", diskRestoreCheckCommand},
};

void printHelp(std::FILE* out) {
  std::fputs("Usage: tandem-cli COMMAND [options]\n\n", out);
  for (const Command& command : kCommands) {
    std::fprintf(out, "  %-20s%s\n", command.name.data(), command.summary);
  }
  std::fputs(
      "\ntandem-cli COMMAND --help lists the options of a command. Exit status: 0 done, 1 a check failed "
      "or\nthe run was stopped with Ctrl-C, 2 bad use or bad input.\n",
      out);
}

int dispatch(std::string_view name, const Arguments& arguments) {
  if (name == "--help" || name == "-h" || name == "help") {
    printHelp(stdout);
    return kDone;
  }
  if (name == "--version") {
    std::printf("tandem-cli %s\n", TANDEM_VERSION);
    return kDone;
  }
  for (const Command& command : kCommands) {
    if (command.name == name) return command.run(arguments);
  }
  return fail({}, badArgument("\"" + std::string(name) + "\" is not a command; see tandem-cli --help", ""));
}

// Text that did not reach its reader (a full disk) must not look like success.
int flushed(int status) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
  std::fputs("tandem-cli: standard output could not be written.\n", stderr);
  return kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    printHelp(stderr);
    return kBadInput;
  }
  try {
    return flushed(dispatch(argv[1], Arguments(argv + 2, argv + argc)));
  } catch (const std::bad_alloc&) {
    std::fputs("tandem-cli: there is not enough memory for this.\n", stderr);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "tandem-cli: %s\n", exception.what());
  }
  return kBadInput;
}
