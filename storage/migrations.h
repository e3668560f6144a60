// The schema's versions. storage/migrations/NNN_name.sql brings a file from version NNN-1 to NNN; the version
// of a file is its PRAGMA user_version. A step that has shipped is never changed; docs/storage.md tells the
// whole schema.
#pragma once

#include <span>
#include <string_view>

#include "engine/base/status.h"
#include "storage/sqlite.h"

namespace tandem::storage {

// The texts of the steps, in order; their number is the newest version.
std::span<const std::string_view> migrationSteps();

// Gives the connection the SQL functions the schema uses. Every connection needs them.
Status registerFunctions(Database& db);

// Brings the file to the newest version, each step in a transaction of its own; does nothing at that version.
// A file of a newer program is refused with kUnsupported. REQUIRES: registerFunctions(db)
Status migrate(Database& db);

}  // namespace tandem::storage
