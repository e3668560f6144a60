// The gate of docs/exactness.md: plain decoding against a drafter in a shape, under a set of request options,
// token by token and bit by bit. What a speculated run chose its tokens from is compared with the plain run's
// own rows, and of the rows that it drafted and threw away a share is compared with plain decoding of their
// own path. One differing token or bit fails the cell, and so does a cell that never drafted, accepted or
// rejected where its drafter could: nothing passes by doing nothing.
//
// A Gate borrows a decoder and a generator of the same model and is used by one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/agreement/plain_run.h"
#include "engine/constraint/constraint_cache.h"
#include "engine/session/generator.h"

namespace tandem::agreement {

// One combination under test.
struct Cell {
  std::string drafter;  // "own-text"; several that draft together: "own-text+store"
  std::string shape;    // "chain7", "tree15", "auto"
  SpeculationOptions speculation;
  std::string options = "plain";  // a name of option_sets.h
  int parallel = 1;               // requests at once

  std::string name() const {
    return drafter + " " + shape + (options == "plain" ? "" : " " + options) +
           (parallel == 1 ? "" : " parallel" + std::to_string(parallel));
  }
};

// Every drafter with every shape under every set of options among every number of requests; the lists are
// separated by commas. Error: kInvalidArgument, with what may stand there.
Result<std::vector<Cell>> cellsOf(std::string_view drafters, std::string_view shapes,
                                  std::string_view options = "plain", std::string_view parallel = "1");

// Where an answer first left the plain one.
struct FirstDifference {
  int token = 0;          // index in the answer
  double gapUlps = 0;     // between the plain row's two highest scores
  bool afterEnd = false;  // an end token stands before it in the plain answer
};

// What one cell did on one prompt, or on several: add() sums.
struct CellResult {
  int prompts = 0;
  std::int64_t tokens = 0;           // of the plain answers
  std::int64_t differingTokens = 0;  // places where the answers differ, what one lacks included
  int differingPrompts = 0;
  std::optional<FirstDifference> first = {};
  int firstPrompt = 0;              // index of the prompt that `first` lies in
  std::uint64_t differingBits = 0;  // over all rows compared
  std::int64_t acceptedRows = 0;    // rows of accepted paths compared, the certain token's included
  std::int64_t rejectedRows = 0;    // rejected rows compared
  std::int64_t rounds = 0, drafted = 0, accepted = 0, rejected = 0;
  double seconds = 0;      // comparing included
  std::string error = {};  // a run that failed: its sentence

  void add(const CellResult& other, int otherPrompt);
};

// Why the cell does not pass; empty: it passes. REQUIRES: the result of at least one prompt.
std::vector<std::string> failuresOf(const Cell& cell, const CellResult& result);

struct GateOptions {
  int tokens = 64;             // of each answer
  bool endAtEndTokens = true;  // false: every answer has all its tokens, but for one that has a form
  int rejectedPeriod = 20;  // of the rounds that reject rows one in so many is compared, the first one always
  std::uint64_t seed = 1;   // of that choice, of the drafters' own, and of sampled answers
  const std::atomic<bool>* cancel = nullptr;
};

// Runs the request of a cell as the engine would, with `store` as its earlier texts. What is tested; the
// default is a Generator.
using Subject = std::function<GenerationOutcome(const Cell&, const Generation&, const GenerationCallbacks&,
                                                const std::shared_ptr<TextStore>& store)>;

// A Generator that has the decoder for itself, whatever the cell's number of requests.
Subject alone(Generator& generator, const std::atomic<bool>* cancel);

class Gate {
 public:
  // `plain` computes the reference, `subject` is under test; it is the same model on another decoder.
  Gate(Decoder& plain, Generator& subject, GateOptions options);
  Gate(Decoder& plain, Subject subject, GateOptions options);

  // Decodes the prompt plainly under the set of options, and keeps that. The store's one text is the prompt
  // and a worse copy of the answer, so that a drafter that looks there is right at times and wrong at times.
  // Errors: those of decodePlain() and of Constraint::compile(), and kInvalidArgument for a set that there is
  // not.
  Status usePrompt(std::vector<TokenId> prompt, const std::string& options = "plain");
  const PlainRun& plain() const { return plain_; }
  // Whether answers of the options' length can have the forms that the cells ask for. Errors: those of
  // Constraint::compile(); kInvalidArgument that names the set and how many tokens it takes.
  Status checkForms(const std::vector<Cell>& cells);

  // Runs the cell on the prompt. A run that fails is a result (`error`); the error here is kCancelled, or one
  // of the reference's own passes. REQUIRES: usePrompt() was ok, with the cell's options.
  Result<CellResult> run(const Cell& cell);

 private:
  Decoder& reference_;
  Subject subject_;
  const GateOptions options_;
  bool ends() const { return options_.endAtEndTokens || form_; }

  std::vector<TokenId> prompt_;
  ConstraintCache forms_;
  SamplingParams sampling_;
  std::shared_ptr<const Constraint> form_;
  PlainRun plain_;
  std::shared_ptr<TextStore> store_;
};

}  // namespace tandem::agreement
