// A JSON schema as it was sent: where each subschema stands, what its references point to, and whether its
// keywords are known.
#pragma once

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/constraint/failure.h"

namespace tandem::constraint {

using Json = nlohmann::ordered_json;

// Reads JSON; refuses what is not JSON, is too long or nested too deeply, naming `field`.
Json parseJson(std::string_view text, const std::string& field);

class SchemaDocument {
 public:
  // `place` stands before every JSON pointer in refusals ("json_schema#/properties/a").
  SchemaDocument(Json schema, std::string place);
  SchemaDocument(const SchemaDocument&) = delete;
  SchemaDocument& operator=(const SchemaDocument&) = delete;

  const Json& root() const { return root_; }
  // The JSON pointer of a subschema, or of a keyword in it, with the document's place before it.
  std::string whereIs(const Json& schema, std::string_view keyword = {}) const;
  // Subschemas in the order of the document, changed copies behind it.
  bool isBefore(const Json* a, const Json* b) const { return places_.at(a) < places_.at(b); }
  // What a subschema's "$ref" points to.
  const Json& resolve(const Json& schema) const;
  // Keeps a changed copy of a subschema, which counts as standing in its place.
  const Json& adopt(Json copy, const Json& original);
  // Refuses a keyword that changes what is valid and is not handled, and one whose value has the wrong form.
  // Looks at each subschema once.
  void check(const Json& schema);

 private:
  void index(const Json& from, const std::string& start);
  void checkKeyword(const Json& schema, const std::string& keyword, const Json& value) const;

  const Json root_;
  const std::string place_;
  std::deque<Json> adopted_;
  std::unordered_map<const Json*, std::string> pointers_;
  std::unordered_map<const Json*, std::size_t> places_;
  std::map<std::string, const Json*> anchors_;
  bool hasInnerId_ = false;  // a schema with an address of its own inside
  std::unordered_set<const Json*> checked_;
};

}  // namespace tandem::constraint
