// Opening the file of a store: what every connection is set to, and whether the file is sound.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "storage/sqlite.h"

namespace tandem::storage {

// Opens the file for writing, makes it if need be, and brings its schema up to date: WAL, synchronous=FULL,
// foreign keys, deleted text overwritten. `busy` and `context` as for sqlite3_busy_handler. On failure `code`
// is SQLite's (SQLITE_OK when a newer program wrote the file).
Result<std::unique_ptr<Database>> openForWriting(const std::string& path, const std::string& vfs,
                                                 int (*busy)(void*, int), void* context, int& code);

// Turns the file to a write-ahead log, which may take a moment where another process opens it too.
Status useWal(Database& db);

// Opens the file for reading only, as the reader thread does.
Result<std::unique_ptr<Database>> openForReading(const std::string& path, const std::string& vfs);

// False when SQLite's quick check finds damage. Stops after `budget` with what it has seen by then, so that a
// big file does not hold up the start.
bool soundWithin(Database& db, std::chrono::milliseconds budget);

// Device and inode of the file now at `path`; nullopt: there is none. Tells whether the file was removed or
// replaced under an open connection, which SQLite itself does not see.
std::optional<std::pair<std::uint64_t, std::uint64_t>> fileIdentity(const std::string& path);

}  // namespace tandem::storage
