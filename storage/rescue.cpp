#include "storage/rescue.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "storage/migrations.h"
#include "storage/page_scan.h"

namespace tandem::storage {

namespace {

// Tables with an `id`, parents before children.
constexpr std::array<const char*, 5> kTables = {"conversations", "messages", "answer_parts", "journal",
                                                "agreement_runs"};

// How far above the ids on disk those of rows made in memory start.
constexpr std::int64_t kIdGap = 1'000'000;

using MaybeDatabase = Result<std::unique_ptr<Database>>;

std::vector<std::string> columnsOf(Database& db, const std::string& table) {
  std::vector<std::string> names;
  Statement s = db.prepare("SELECT name FROM pragma_table_info(?)");
  s.bindText(table);
  while (s.row())
    names.push_back(s.bytes(0));
  return names;
}

// Carries rows of one table by their id from a connection to another; a row that is there already is
// replaced.
class RowCarrier {
 public:
  RowCarrier(Database& from, Database& to, const std::string& table) : from_(from), to_(to), table_(table) {
    const std::vector<std::string> old = columnsOf(from, table);
    std::string columns, marks, updates;
    for (const std::string& name : columnsOf(to, table)) {
      if (std::find(old.begin(), old.end(), name) == old.end()) continue;
      columns += (columns.empty() ? "" : ", ") + name;
      marks += marks.empty() ? "?" : ", ?";
      if (name != "id") updates += (updates.empty() ? "" : ", ") + name + " = excluded." + name;
    }
    select_ = "SELECT " + columns + " FROM " + table + " WHERE id = ?";
    insert_ = "INSERT INTO " + table + " (" + columns + ") VALUES (" + marks +
              ") ON CONFLICT (id) DO UPDATE SET " + updates;
  }

  // True: the row was carried; false: there is no such row. A damaged row is an error.
  Result<bool> carry(std::int64_t id) {
    Statement source = from_.prepare(select_);
    source.bind(id);
    if (!source.row()) {
      if (!source.status()) return source.status().error();
      return false;
    }
    Statement target = to_.prepare(insert_);
    for (int i = 0; i < source.columns(); ++i)
      target.bindValue(source.value(i));
    const Status status = target.run();
    if (!status) return status.error();
    return true;
  }

  Status drop(std::int64_t id) {
    Statement s = to_.prepare("DELETE FROM " + table_ + " WHERE id = ?");
    return s.bind(id).run();
  }

 private:
  Database& from_;
  Database& to_;
  std::string table_, select_, insert_;
};

Status carrySettings(Database& from, Database& to) {
  Statement source = from.prepare("SELECT name, value FROM settings");
  while (source.row()) {
    Statement target = to.prepare("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)");
    target.bindValue(source.value(0)).bindValue(source.value(1));
    const Status status = target.run();
    if (!status) return status;
  }
  return source.status();
}

// The path as it stands in a "file:" URI.
std::string uriPath(const std::string& path) {
  std::string out;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr char kHex[] = "0123456789ABCDEF";
      out += {'%', kHex[c >> 4], kHex[c & 15]};
    } else {
      out += c;
    }
  }
  return out;
}

// The rows that SQLite itself can still reach, up to the first damage on the way.
void carryReachable(Database& from, Database& to, const std::string& table) {
  RowCarrier carrier(from, to, table);
  Statement ids = from.prepare("SELECT id FROM " + table + " NOT INDEXED ORDER BY id");
  while (ids.row()) {
    static_cast<void>(carrier.carry(ids.integer(0)));  // a row that cannot be read is passed over
  }
}

void bindScanned(Statement& statement, const ScannedValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    statement.bind(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    statement.bind(*real);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    statement.bindText(*text);
  } else if (const auto* blob = std::get_if<ScannedBlob>(&value)) {
    statement.bindBlob(blob->bytes);
  } else {
    statement.bindNull();
  }
}

// The rows on the file's pages that no tree leads to any more. A row's table is told by its number of
// columns, which differs for each of ours; a row that was carried already stays as it is.
void carryScanned(std::string_view file, Database& to) {
  std::map<std::size_t, std::string> inserts;  // by number of columns
  for (const char* table : kTables) {
    const std::size_t columns = columnsOf(to, table).size();
    std::string marks = "?";
    for (std::size_t i = 1; i < columns; ++i)
      marks += ", ?";
    inserts[columns] = "INSERT OR IGNORE INTO " + std::string(table) + " VALUES (" + marks + ")";
  }
  scanRows(file, [&](std::int64_t id, const std::vector<ScannedValue>& values) {
    const auto insert = inserts.find(values.size());
    if (insert == inserts.end()) return;
    Statement target = to.prepare(insert->second);
    target.bind(id);  // the column `id` is the row id, and is not stored with the row
    for (std::size_t i = 1; i < values.size(); ++i)
      bindScanned(target, values[i]);
    static_cast<void>(target.run());  // a row that breaks the schema's rules was none of ours
  });
}

// The bytes of the file as an open connection sees them, log included; where SQLite cannot tell, as they lie.
std::string imageOf(Database* source, const std::string& path) {
  sqlite3_int64 size = 0;
  unsigned char* bytes = source ? sqlite3_serialize(source->handle(), "main", &size, 0) : nullptr;
  if (bytes) {
    std::string image(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    sqlite3_free(bytes);
    return image;
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Messages and conversations that lost what they hang on become visible again.
Status repairLinks(Database& db) {
  return db.exec(
      "INSERT INTO conversations (id, title, created_ms, updated_ms) "
      "  SELECT conversation, 'Recovered conversation', min(created_ms), max(created_ms) FROM messages "
      "  WHERE conversation NOT IN (SELECT id FROM conversations) GROUP BY conversation;"
      "UPDATE messages SET parent = (SELECT max(p.id) FROM messages p "
      "  WHERE p.conversation = messages.conversation AND p.id < messages.id) "
      "  WHERE parent IS NOT NULL AND (parent >= id OR parent NOT IN (SELECT id FROM messages));"
      "DELETE FROM answer_parts WHERE message NOT IN (SELECT id FROM messages);");
}

}  // namespace

MaybeDatabase emptyMemory() {
  auto db = Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");
  if (!db) return db;
  Status status = registerFunctions(**db);
  if (status) status = (*db)->exec("PRAGMA foreign_keys = ON");
  if (status) status = migrate(**db);
  if (!status) return status.error();
  return db;
}

MaybeDatabase copyToMemory(Database& from) {
  auto db = Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");
  if (!db) return db;
  sqlite3_backup* backup = sqlite3_backup_init((*db)->handle(), "main", from.handle(), "main");
  if (!backup) return sqliteError(sqlite3_errcode((*db)->handle()));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return sqliteError(code);
  Status status = registerFunctions(**db);
  if (status) status = (*db)->exec("PRAGMA foreign_keys = ON");
  if (status) status = migrate(**db);
  if (!status) return status.error();
  return db;
}

MaybeDatabase loadToMemory(const std::string& path, const std::string& vfs) {
  struct Way {
    int flags;
    const char* pragma;
  };
  // With locking_mode=EXCLUSIVE the index of the log lives in memory and needs no file; "immutable" reads the
  // file without its log, when nothing else is left.
  constexpr std::array<Way, 3> kWays = {{
      {SQLITE_OPEN_READWRITE, "PRAGMA query_only = ON"},
      {SQLITE_OPEN_READWRITE, "PRAGMA locking_mode = EXCLUSIVE"},
      {SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, "PRAGMA query_only = ON"},
  }};
  MaybeDatabase copy = sqliteError(SQLITE_CANTOPEN);
  for (const Way& way : kWays) {
    const bool uri = (way.flags & SQLITE_OPEN_URI) != 0;
    auto source = Database::open(uri ? "file:" + uriPath(path) + "?immutable=1" : path, way.flags, vfs);
    if (!source) continue;
    sqlite3_db_config((*source)->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    if (!(*source)->exec(way.pragma)) continue;
    copy = copyToMemory(**source);
    if (copy || copy.error().code == ErrorCode::kBusy) break;
  }
  return copy;
}

MaybeDatabase salvageToMemory(const std::string& path, const std::string& vfs) {
  auto memory = emptyMemory();
  if (!memory) return memory;
  Status status = (*memory)->exec("PRAGMA foreign_keys = OFF; BEGIN");
  if (!status) return status.error();
  auto source = Database::open(path, SQLITE_OPEN_READWRITE, vfs);
  if (source) {
    sqlite3_db_config((*source)->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    static_cast<void>(carrySettings(**source, **memory));  // as far as they can be read
    for (const char* table : kTables)
      carryReachable(**source, **memory, table);
  }
  carryScanned(imageOf(source ? source->get() : nullptr, path), **memory);
  status = repairLinks(**memory);
  if (status) status = (*memory)->exec("COMMIT; PRAGMA foreign_keys = ON");
  if (!status) return status.error();
  return memory;
}

Status trackChanges(Database& memory, bool everything) {
  Status status = memory.exec(
      "CREATE TEMP TABLE touched (tbl TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (tbl, id)) WITHOUT "
      "ROWID");
  for (const char* table : kTables) {
    const std::string t = table;
    const auto trigger = [&t](const std::string& event, const std::string& row) {
      return "CREATE TEMP TRIGGER " + t + "_" + event + " AFTER " + event + " ON main." + t +
             " BEGIN INSERT OR IGNORE INTO touched VALUES ('" + t + "', " + row + ".id); END;";
    };
    std::string sql = trigger("INSERT", "new") + trigger("UPDATE", "new") + trigger("DELETE", "old");
    if (everything) sql += "INSERT INTO touched SELECT '" + t + "', id FROM main." + t + ";";
    sql += "INSERT INTO main.sqlite_sequence (name, seq) SELECT '" + t +
           "', 0 WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_sequence WHERE name = '" + t + "');";
    if (status) status = memory.exec(sql.c_str());
  }
  const std::string gap = "UPDATE main.sqlite_sequence SET seq = seq + " + std::to_string(kIdGap);
  return status ? memory.exec(gap.c_str()) : status;
}

Status mergeToDisk(Database& memory, Database& disk) {
  Status status = disk.exec("BEGIN IMMEDIATE; PRAGMA defer_foreign_keys = ON");
  if (!status) return status;
  status = carrySettings(memory, disk);
  for (const char* table : kTables) {
    RowCarrier carrier(memory, disk, table);
    Statement touched = memory.prepare("SELECT id FROM touched WHERE tbl = ?");
    touched.bindText(table);
    while (status && touched.row()) {
      const std::int64_t id = touched.integer(0);
      const Result<bool> carried = carrier.carry(id);
      status = carried.status();
      if (carried && !*carried) status = carrier.drop(id);
    }
    if (status) status = touched.status();
  }
  if (status) status = repairLinks(disk);
  if (status) status = disk.exec("COMMIT");
  if (!status) sqlite3_exec(disk.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  return status;
}

Result<std::string> setAside(const std::string& path) {
  char stamp[32];
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::strftime(stamp, sizeof stamp, ".damaged-%Y%m%d-%H%M%S", &local);
  std::string name = path + stamp;
  std::error_code error;
  for (int n = 2; std::filesystem::exists(name, error); ++n)
    name = path + stamp + "-" + std::to_string(n);
  std::filesystem::rename(path, name, error);
  if (error) {
    return Error{ErrorCode::kIo, "The damaged file with the conversations could not be renamed.", path,
                 std::nullopt};
  }
  // The log belongs to the file; its index is made anew by whoever opens it.
  std::error_code noLog;
  std::filesystem::rename(path + "-wal", name + "-wal", noLog);
  std::filesystem::remove(path + "-shm", noLog);
  return name;
}

}  // namespace tandem::storage
