// What the store does when its file cannot be used: a copy in memory to go on with, the readable rows of a
// damaged file, and the way back to disk. All of it runs on the store's writer thread.
#pragma once

#include <memory>
#include <string>

#include "storage/sqlite.h"

namespace tandem::storage {

// An empty store in memory, at the newest version.
Result<std::unique_ptr<Database>> emptyMemory();

// A copy of the whole open file in memory.
Result<std::unique_ptr<Database>> copyToMemory(Database& from);

// The same from a file no connection is open on. Tries ever simpler ways to read it: with a read-only folder
// or without a free byte on the disk the usual way fails.
Result<std::unique_ptr<Database>> loadToMemory(const std::string& path, const std::string& vfs);

// Every row that can still be read of a damaged file, in memory. Messages whose conversation or parent is
// lost are put where they can be seen. Never fails but for want of memory: what is beyond reading is left
// out.
Result<std::unique_ptr<Database>> salvageToMemory(const std::string& path, const std::string& vfs);

// From here on the store in memory remembers which rows change; ids of new rows start far above those on
// disk, so that they meet no rows another process may add. everything: all present rows count as changed.
Status trackChanges(Database& memory, bool everything);

// Brings the remembered rows to disk in one transaction.
Status mergeToDisk(Database& memory, Database& disk);

// Renames a damaged file, with what belongs to it, to "NAME.damaged-YYYYMMDD-HHMMSS" beside it; the new name.
Result<std::string> setAside(const std::string& path);

}  // namespace tandem::storage
