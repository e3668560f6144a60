#include "storage/migrations.h"

#include <array>
#include <string>

#include "storage/migration_texts.h"

namespace tandem::storage {

namespace {

constexpr std::array<std::string_view, 3> kSteps = {kMigration001, kMigration002, kMigration003};
constexpr const char* kReplacement = "\xEF\xBF\xBD";

// Length of the valid UTF-8 character at the start of `bytes`, 0 when there is none.
std::size_t validCharacter(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && at(1) < 0xA0) || (lead == 0xF0 && at(1) < 0x90);
  const bool surrogateOrBeyond = (lead == 0xED && at(1) > 0x9F) || (lead == 0xF4 && at(1) > 0x8F);
  return overlong || surrogateOrBeyond ? 0 : size;
}

void searchTextFunction(sqlite3_context* context, int, sqlite3_value** values) {
  const void* data = sqlite3_value_blob(values[0]);
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(values[0]));
  const std::string text = searchText({static_cast<const char*>(data ? data : ""), size});
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

Status runStep(Database& db, std::size_t version) {
  Status status = db.exec("BEGIN IMMEDIATE");
  if (!status) return status;
  // Another process may have taken this step while we waited for the lock.
  const Result<std::int64_t> now = db.integer("PRAGMA user_version");
  if (!now) {
    status = now.status();
  } else if (*now < static_cast<std::int64_t>(version)) {
    status = db.exec(std::string(kSteps[version - 1]).c_str());
    if (status) status = db.exec(("PRAGMA user_version = " + std::to_string(version)).c_str());
  }
  if (status) status = db.exec("COMMIT");
  if (!status) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

}  // namespace

std::string searchText(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t size = validCharacter(bytes);
    if (size == 0) {
      text += kReplacement;
    } else if (bytes[0] == '\0') {
      text += ' ';
    } else {
      text += bytes.substr(0, size);
    }
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return text;
}

std::span<const std::string_view> migrationSteps() {
  return kSteps;
}

Status registerFunctions(Database& db) {
  const int code = sqlite3_create_function_v2(db.handle(), "search_text", 1,
                                              SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
                                              searchTextFunction, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : Status(sqliteError(code));
}

Status migrate(Database& db) {
  const Result<std::int64_t> version = db.integer("PRAGMA user_version");
  if (!version) return version.error();
  const auto newest = static_cast<std::int64_t>(kSteps.size());
  if (*version > newest) {
    return Error{
        ErrorCode::kUnsupported,
        "The conversations were written by a newer version of Tandem; update the program to open them.",
        "user_version", std::nullopt};
  }
  for (std::int64_t step = *version + 1; step <= newest; ++step) {
    const Status status = runStep(db, static_cast<std::size_t>(step));
    if (!status) return status;
  }
  return {};
}

}  // namespace tandem::storage
