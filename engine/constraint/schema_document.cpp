#include "engine/constraint/schema_document.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace tandem::constraint {
namespace {

enum class Form { kAny, kText, kCount, kNumber, kFlag, kSchema, kSchemas, kSchemaMap, kTexts, kTypes, kList };

struct Keyword {
  std::string_view name;
  Form form;
};

// Those that are enforced.
constexpr Keyword kKeywords[] = {
    {"type", Form::kTypes},
    {"enum", Form::kList},
    {"const", Form::kAny},
    {"minLength", Form::kCount},
    {"maxLength", Form::kCount},
    {"pattern", Form::kText},
    {"format", Form::kText},
    {"minimum", Form::kNumber},
    {"maximum", Form::kNumber},
    {"exclusiveMinimum", Form::kNumber},
    {"exclusiveMaximum", Form::kNumber},
    {"multipleOf", Form::kNumber},
    {"properties", Form::kSchemaMap},
    {"patternProperties", Form::kSchemaMap},
    {"additionalProperties", Form::kSchema},
    {"propertyNames", Form::kSchema},
    {"required", Form::kTexts},
    {"minProperties", Form::kCount},
    {"maxProperties", Form::kCount},
    {"prefixItems", Form::kSchemas},
    {"items", Form::kSchema},
    {"minItems", Form::kCount},
    {"maxItems", Form::kCount},
    {"uniqueItems", Form::kFlag},
    {"$ref", Form::kText},
    {"allOf", Form::kSchemas},
    {"anyOf", Form::kSchemas},
    {"oneOf", Form::kSchemas},
};

// Those that change nothing about what is valid.
constexpr std::string_view kAnnotations[] = {
    "title",
    "description",
    "default",
    "examples",
    "example",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$defs",
    "definitions",
    "$dynamicAnchor",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$vocabulary",
    "externalDocs",
    "xml",
};

constexpr std::string_view kTypeNames[] = {"null",   "boolean", "integer", "number",
                                           "string", "array",   "object"};

template <class List>
bool has(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool isTypeName(const Json& value) {
  return value.is_string() && has(kTypeNames, value.get_ref<const std::string&>());
}

bool isSchema(const Json& value) {
  return value.is_object() || value.is_boolean();
}

template <class Test>
bool allOf(const Json& list, const Test& test) {
  return std::all_of(list.begin(), list.end(), test);
}

// A count is a number without a fraction that is not negative; 3.0 counts too.
bool isCount(const Json& value) {
  return value.is_number() && value.get<double>() >= 0 && value.get<double>() <= 1e9 &&
         value.get<double>() == static_cast<double>(static_cast<long long>(value.get<double>()));
}

const char* formName(Form form) {
  switch (form) {
    case Form::kText:
      return "a string";
    case Form::kCount:
      return "a whole number from 0 to 1000000000";
    case Form::kNumber:
      return "a number";
    case Form::kFlag:
      return "true or false";
    case Form::kSchema:
      return "a schema";
    case Form::kSchemas:
      return "a list of schemas";
    case Form::kSchemaMap:
      return "an object of schemas";
    case Form::kTexts:
      return "a list of strings";
    case Form::kTypes:
      return "the name of a type or a list of them";
    case Form::kList:
      return "a list";
    case Form::kAny:
      break;
  }
  return "a value";
}

bool hasForm(const Json& value, Form form) {
  switch (form) {
    case Form::kText:
      return value.is_string();
    case Form::kCount:
      return isCount(value);
    case Form::kNumber:
      return value.is_number();
    case Form::kFlag:
      return value.is_boolean();
    case Form::kSchema:
      return isSchema(value);
    case Form::kSchemas:
      return value.is_array() && allOf(value, isSchema);
    case Form::kSchemaMap:
      return value.is_object() && allOf(value, isSchema);
    case Form::kTexts:
      return value.is_array() && allOf(value, [](const Json& item) { return item.is_string(); });
    case Form::kTypes:
      return isTypeName(value) || (value.is_array() && !value.empty() && allOf(value, isTypeName));
    case Form::kList:
      return value.is_array();
    case Form::kAny:
      break;
  }
  return true;
}

// A part of a JSON pointer as it stands in one.
std::string escapePart(const std::string& part) {
  std::string out;
  for (const char c : part) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

// Reads %XX.
std::string unescapePercent(const std::string& text) {
  const auto hex = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(16 * hex(text[i + 1]) + hex(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// Whether a JSON number is whole and has more digits than are kept exactly.
bool isHuge(std::string_view number) {
  if (number.find_first_not_of("0123456789", number.starts_with('-') ? 1 : 0) != std::string_view::npos)
    return false;
  std::int64_t whole = 0;
  std::uint64_t positive = 0;
  const char* end = number.data() + number.size();
  return std::from_chars(number.data(), end, whole).ec == std::errc::result_out_of_range &&
         std::from_chars(number.data(), end, positive).ec != std::errc();
}

}  // namespace

Json parseJson(std::string_view text, const std::string& field) {
  if (text.size() > kMaxSourceBytes) Budget::overrun("The text is longer than 1 MiB", field);
  int depth = 0;
  bool inString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        inString = false;
      }
    } else if (c == '"') {
      inString = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxNesting) Budget::overrun("It is nested too deeply", field);
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      const std::string_view number = text.substr(i, text.find_first_not_of("+-.eE0123456789", i) - i);
      if (isHuge(number))
        refuse("The number " + std::string(number.substr(0, 40)) +
                   " is too large: whole numbers from -2^63 to 2^64 - 1 are kept exactly.",
               field);
      i += number.size() - 1;
    }
  }
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) refuse("This is not JSON.", field);
  return value;
}

SchemaDocument::SchemaDocument(Json schema, std::string place)
    : root_(std::move(schema)), place_(std::move(place)) {
  if (!isSchema(root_)) refuse("A schema must be an object, true or false.", place_);
  index(root_, "");
}

const Json& SchemaDocument::adopt(Json copy, const Json& original) {
  const std::string pointer = pointers_.at(&original);
  adopted_.push_back(std::move(copy));
  index(adopted_.back(), pointer);
  return adopted_.back();
}

// Names every object, array and flag by its place, and finds the anchors.
void SchemaDocument::index(const Json& from, const std::string& start) {
  std::vector<const Json*> work{&from};
  pointers_.emplace(&from, start);
  places_.emplace(&from, places_.size());
  while (!work.empty()) {
    const Json& at = *work.back();
    work.pop_back();
    const std::string pointer = pointers_.at(&at);
    const auto enter = [&](const Json& child, const std::string& part) {
      pointers_.emplace(&child, pointer + "/" + part);
      places_.emplace(&child, places_.size());
      if (child.is_structured()) work.push_back(&child);
    };
    if (at.is_array()) {
      for (std::size_t i = 0; i < at.size(); ++i)
        enter(at[i], std::to_string(i));
    } else {
      for (const auto& [name, child] : at.items())
        enter(child, escapePart(name));
      if (const auto id = at.find("$id"); &at != &root_ && id != at.end() && id->is_string())
        hasInnerId_ = true;
      for (const char* name : {"$anchor", "$dynamicAnchor"}) {
        const auto anchor = at.find(name);
        if (anchor != at.end() && anchor->is_string()) anchors_.emplace(anchor->get<std::string>(), &at);
      }
    }
  }
}

std::string SchemaDocument::whereIs(const Json& schema, std::string_view keyword) const {
  const auto at = pointers_.find(&schema);
  std::string pointer = at == pointers_.end() ? "" : at->second;
  if (!keyword.empty()) pointer += "/" + escapePart(std::string(keyword));
  return place_ + "#" + pointer;
}

const Json& SchemaDocument::resolve(const Json& schema) const {
  const std::string where = whereIs(schema, "$ref");
  if (hasInnerId_) refuse("References are not followed in a schema that has $id below its root.", where);
  std::string target = schema.at("$ref").get<std::string>();
  const auto id = root_.find("$id");
  if (id != root_.end() && id->is_string()) {
    const std::string& base = id->get_ref<const std::string&>();
    if (!base.empty() && target.starts_with(base)) target.erase(0, base.size());
    if (target.empty()) target = "#";
  }
  if (!target.starts_with('#'))
    refuse("The reference " + target + " points out of the schema; only references inside it are followed.",
           where);
  const std::string fragment = unescapePercent(target.substr(1));
  if (!fragment.empty() && fragment.front() != '/') {
    const auto anchor = anchors_.find(fragment);
    if (anchor == anchors_.end()) refuse("The reference " + target + " points to nothing.", where);
    return *anchor->second;
  }
  const Json* found = &root_;
  for (std::size_t begin = 1; begin <= fragment.size() && !fragment.empty();) {
    const std::size_t end = std::min(fragment.find('/', begin), fragment.size());
    std::string part;
    for (std::size_t i = begin; i < end; ++i) {
      if (fragment[i] == '~' && i + 1 < end) {
        part.push_back(fragment[++i] == '0' ? '~' : '/');
      } else {
        part.push_back(fragment[i]);
      }
    }
    begin = end + 1;
    const Json* next = nullptr;
    if (found->is_object()) {
      const auto member = found->find(part);
      if (member != found->end()) next = &*member;
    } else if (found->is_array() && !part.empty() && part.size() < 9 &&
               part.find_first_not_of("0123456789") == std::string::npos) {
      const std::size_t i = std::stoul(part);
      if (i < found->size()) next = &(*found)[i];
    }
    if (next == nullptr) refuse("The reference " + target + " points to nothing.", where);
    found = next;
  }
  if (!isSchema(*found))
    refuse("The reference " + target + " points to something that is not a schema.", where);
  return *found;
}

void SchemaDocument::checkKeyword(const Json& schema, const std::string& keyword, const Json& value) const {
  if (has(kAnnotations, keyword) || keyword.starts_with("x-")) return;
  const auto known = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                  [&](const Keyword& k) { return k.name == keyword; });
  const std::string where = whereIs(schema, keyword);
  if (known == std::end(kKeywords)) {
    throw Failure{{ErrorCode::kUnsupported,
                   "The keyword " + keyword + " is not supported, and it may change what is valid.", where}};
  }
  if (!hasForm(value, known->form))
    refuse("The keyword " + keyword + " must be " + formName(known->form) + ".", where);
  const bool isTrue = value.is_boolean() && value.get<bool>();
  if (keyword == "uniqueItems" && isTrue)
    throw Failure{{ErrorCode::kUnsupported, "The keyword uniqueItems is not supported.", where}};
  if ((keyword == "anyOf" || keyword == "oneOf" || keyword == "allOf") && value.empty())
    refuse("The keyword " + keyword + " must not be empty.", where);
}

void SchemaDocument::check(const Json& schema) {
  if (!schema.is_object() || !checked_.insert(&schema).second) return;
  for (const auto& [keyword, value] : schema.items())
    checkKeyword(schema, keyword, value);
}

}  // namespace tandem::constraint
