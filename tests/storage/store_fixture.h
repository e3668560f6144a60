// A store in a folder of its own, for tests that derive from it.
#pragma once

#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <string>

#include "tests/storage/store_helpers.h"

namespace tandem::testing {

class StoreFixture {
 protected:
  void start() {
    dir_ = std::make_unique<QTemporaryDir>();
    path_ = dir_->filePath("home/data/tandem.db").toStdString();
    reopen();
  }
  void finish() {
    store_.reset();
    QCOMPARE(askFile(path_, "PRAGMA integrity_check"), std::string("ok"));
  }
  Store& store() { return *store_; }
  void reopen(StoreOptions options = {}) {
    store_.reset();
    auto opened = Store::open(path_, options);
    QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
    store_ = std::move(*opened);
    QCOMPARE(store_->trouble(), std::string());
  }

  std::unique_ptr<QTemporaryDir> dir_;
  std::string path_;
  std::unique_ptr<Store> store_;
};

}  // namespace tandem::testing
