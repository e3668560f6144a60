// For tests on disks that fail: a file on the fault VFS or the real one, and what is left in it.
#pragma once

#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/storage/fault_vfs.h"
#include "tests/storage/store_helpers.h"

namespace tandem::testing {

inline std::set<std::string> questionsOf(Store& store) {
  std::set<std::string> questions;
  for (const ConversationRecord& record : listOf(store)) {
    for (const MessageRecord& m : pathOf(store, record.id)) {
      if (m.role == Role::kUser) questions.insert(m.content);
    }
  }
  return questions;
}

class TroubleFixture {
 protected:
  void start() {
    vfs_.reset();
    dir_ = std::make_unique<QTemporaryDir>();
    QDir(dir_->path()).mkdir("data");
    path_ = dir_->filePath("data/tandem.db").toStdString();
  }
  void finish() { vfs_.reset(); }

  StoreOptions faulty() const {
    StoreOptions options;
    options.vfs = FaultVfs::kName;
    options.memoryRetry = std::chrono::milliseconds(100);
    options.openPatience = std::chrono::milliseconds(300);
    return options;
  }
  std::unique_ptr<Store> open(StoreOptions options) {
    auto opened = Store::open(path_, std::move(options));
    return opened ? std::move(*opened) : nullptr;
  }
  // The folder of the file, emptied.
  void clearFolder() {
    std::filesystem::remove_all(std::filesystem::path(path_).parent_path());
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
  }
  std::vector<std::string> damagedCopies() const {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path())) {
      const std::string name = entry.path().filename().string();
      if (name.find(".damaged-") != std::string::npos && !name.ends_with("-wal") && !name.ends_with("-shm")) {
        names.push_back(entry.path().string());
      }
    }
    return names;
  }
  // A closed file with `turns` turns in conversations of their own, some with long text.
  void makeFile(int turns) {
    auto store = open({});
    QVERIFY(store);
    for (int i = 0; i < turns; ++i) {
      const std::string text = "question " + std::to_string(i);
      QVERIFY(writeTurn(*store, 0, text, i % 5 == 0 ? std::string(20'000, 'a') : "answer").answer != 0);
    }
  }

  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;
  FaultVfs& vfs_ = FaultVfs::instance();
};

}  // namespace tandem::testing
