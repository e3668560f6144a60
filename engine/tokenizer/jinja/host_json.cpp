#include "engine/tokenizer/jinja/host_json.h"

#include <limits>

namespace tandem::jinja {
namespace {

constexpr std::uint64_t kValueBytes = 64;

using Json = nlohmann::ordered_json;

Value number(const Json& json) {
  if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    const bool fits = number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return fits ? Value::integer(static_cast<std::int64_t>(number))
                : Value::real(static_cast<double>(number));
  }
  return Value::integer(json.get<std::int64_t>());
}

}  // namespace

Value fromJson(Runtime& runtime, const Json& json) {
  const DepthGuard guard(runtime.budget, kValueDepth);
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return number(json);
    case Json::value_t::number_float:
      return Value::real(json.get<double>());
    case Json::value_t::string:
      return runtime.data(json.get_ref<const std::string&>());
    case Json::value_t::array: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const Json& item : json)
        items.push_back(fromJson(runtime, item));
      return runtime.arena.list(std::move(items));
    }
    case Json::value_t::object: {
      auto* dict = runtime.arena.make<Dict>();
      for (const auto& [key, value] : json.items()) {
        runtime.budget.spendBytes(sizeof(Dict::Entry));
        dict->set(runtime.budget, runtime.data(key), fromJson(runtime, value));
      }
      return Value(dict);
    }
    default:
      return Value::none();
  }
}

std::uint64_t sizeOf(const Json& json) {
  std::uint64_t size = kValueBytes;
  if (json.is_string()) return size + json.get_ref<const std::string&>().size();
  if (json.is_array()) {
    for (const Json& item : json)
      size += sizeOf(item);
  }
  if (json.is_object()) {
    for (const auto& [key, value] : json.items())
      size += kValueBytes + key.size() + sizeOf(value);
  }
  return size;
}

}  // namespace tandem::jinja
