// A chat template's Jinja source, parsed once and rendered as often as wanted.
//
// The interpreter equals Python's jinja2 as chat templates expect it to be set up; docs/chat-templates.md
// lists what it knows, what it costs at most, and how the origin of every byte is kept. A Template is
// immutable; any number of threads may render it at once. No exception leaves these functions.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/tokenizer/jinja/clock.h"
#include "engine/tokenizer/jinja/failure.h"
#include "engine/tokenizer/tagged_text.h"

namespace tandem::jinja {

struct Program;

// What a render is given.
struct Variables {
  const nlohmann::ordered_json* data = nullptr;  // REQUIRES: an object; all of it is data
  // Texts that count as the template's own (bos, eos); they win over `data`.
  std::vector<std::pair<std::string, std::string>> markers;
  Clock clock;  // for strftime_now; empty means the machine's clock
};

class Template {
 public:
  static std::variant<Template, Failure> parse(std::string_view source);

  std::variant<TaggedText, Failure> render(const Variables& variables) const;

 private:
  explicit Template(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const Program> program_;
};

}  // namespace tandem::jinja
