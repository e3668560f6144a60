// One window per home. The first start on a home holds a lock and listens; a further one asks it to come to
// the front and exits. The lock is the kernel's (flock), so it is free the moment its holder is gone, however
// it ended, and two starts at the same time cannot both get it.
#pragma once

#include <QLocalServer>
#include <QObject>
#include <QString>

#include "app/places/places.h"

namespace tandem::desktop {

class SingleInstance : public QObject {
  Q_OBJECT

 public:
  explicit SingleInstance(const Places& places);
  ~SingleInstance() override;

  enum class Outcome {
    kFirst,       // this process owns the home now
    kHandedOver,  // another one does, and has been raised
  };
  // Waits at most about five seconds for a first start that is not listening yet. Fails with kBusy when the
  // holder does not answer, kIo when the lock file cannot be made.
  Result<Outcome> claim();

 signals:
  void raiseAsked();

 private:
  Status lock(bool& got);
  bool handOver();
  void listen();

  std::filesystem::path lockFile_;
  QString serverName_;
  int descriptor_ = -1;
  QLocalServer server_;
};

}  // namespace tandem::desktop
