#include "engine/tokenizer/jinja/attribute_path.h"

#include <algorithm>

#include "engine/tokenizer/jinja/attributes.h"
#include "engine/tokenizer/jinja/numbers.h"
#include "engine/tokenizer/jinja/text_ops.h"

namespace tandem::jinja {
namespace {

std::vector<TaggedText> cut(Runtime& runtime, const Value& text, std::string_view separator) {
  return split(runtime.budget, text.asString().text, &separator, -1);
}

}  // namespace

AttributePath::AttributePath(Runtime& runtime, const Value& attribute, const Value& fallback)
    : fallback_(fallback) {
  if (attribute.isMissing() || attribute.isNone()) return;
  if (!attribute.isString()) {
    parts_.push_back(attribute);
    return;
  }
  for (const TaggedText& part : cut(runtime, attribute, ".")) {
    const std::string& text = part.text();
    const bool isNumber =
        !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    parts_.push_back(isNumber ? Value::integer(parseInteger(text, 10).value_or(0)) : runtime.text(part));
  }
}

Value AttributePath::of(Runtime& runtime, const Value& item) const {
  Value value = item;
  for (const Value& part : parts_) {
    value = getItem(runtime, value, part);
    if (value.isUndefined() && !fallback_.isMissing() && !fallback_.isNone()) value = fallback_;
  }
  return value;
}

std::vector<AttributePath> AttributePath::several(Runtime& runtime, const Value& attribute) {
  if (!attribute.isString()) return {AttributePath(runtime, attribute)};
  std::vector<AttributePath> paths;
  for (const TaggedText& part : cut(runtime, attribute, ","))
    paths.emplace_back(runtime, runtime.text(part));
  return paths;
}

Value ignoreCase(Runtime& runtime, const Value& value) {
  if (!value.isString()) return value;
  runtime.budget.spendBytes(value.asString().text.size());
  return runtime.text(changeCase(value.asString().text, Case::kLower));
}

}  // namespace tandem::jinja
