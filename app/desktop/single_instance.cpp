#include "app/desktop/single_instance.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QCryptographicHash>
#include <QElapsedTimer>
#include <QLocalSocket>
#include <QThread>
#include <cerrno>
#include <cstring>

namespace tandem::desktop {
namespace {

constexpr int kPatienceMs = 5000;
constexpr int kRetryMs = 50;
constexpr int kAnswerMs = 1000;

}  // namespace

SingleInstance::SingleInstance(const Places& places) : lockFile_(places.state / "window.lock") {
  // The socket's path has a short limit, so its name is a hash of the home.
  const QByteArray home = QByteArray::fromStdString(places.state.string());
  serverName_ = QStringLiteral("tandem-") +
                QCryptographicHash::hash(home, QCryptographicHash::Sha256).toHex().left(16) +
                QStringLiteral("-%1").arg(getuid());
  server_.setSocketOptions(QLocalServer::UserAccessOption);
  connect(&server_, &QLocalServer::newConnection, this, [this] {
    while (QLocalSocket* peer = server_.nextPendingConnection()) {
      connect(peer, &QLocalSocket::disconnected, peer, &QObject::deleteLater);
      peer->write("raised\n");
      peer->flush();
      emit raiseAsked();
    }
  });
}

SingleInstance::~SingleInstance() {
  server_.close();
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Status SingleInstance::lock(bool& got) {
  if (descriptor_ < 0) {
    descriptor_ = ::open(lockFile_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  if (descriptor_ < 0) {
    return Error{ErrorCode::kIo, "The lock file " + lockFile_.string() + " could not be opened: " +
                                     std::strerror(errno) + ". Check the permissions of its folder."};
  }
  got = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  return {};
}

bool SingleInstance::handOver() {
  QLocalSocket socket;
  socket.connectToServer(serverName_);
  return socket.waitForConnected(kRetryMs) && socket.waitForReadyRead(kAnswerMs);
}

void SingleInstance::listen() {
  QLocalServer::removeServer(serverName_);  // what a killed process left; we hold the lock, so nobody uses it
  server_.listen(serverName_);
}

Result<SingleInstance::Outcome> SingleInstance::claim() {
  QElapsedTimer waited;
  waited.start();
  do {
    bool got = false;
    if (Status status = lock(got); !status.ok()) {
      return status.error();
    }
    if (got) {
      listen();
      return Outcome::kFirst;
    }
    if (handOver()) {
      return Outcome::kHandedOver;
    }
    QThread::msleep(kRetryMs);
  } while (waited.elapsed() < kPatienceMs);
  return Error{
      ErrorCode::kBusy,
      "Tandem is already running on this home but does not answer. End it, or choose another home with "
      "--home DIR."};
}

}  // namespace tandem::desktop
