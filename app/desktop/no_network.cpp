#include "app/desktop/no_network.h"

#include <QTimer>

namespace tandem::desktop {
namespace {

// A reply that has failed before it began.
class RefusedReply : public QNetworkReply {
  Q_OBJECT

 public:
  RefusedReply(QNetworkAccessManager::Operation operation, const QNetworkRequest& request, QObject* parent)
      : QNetworkReply(parent) {
    setOperation(operation);
    setRequest(request);
    setUrl(request.url());
    setError(ContentAccessDenied, tr("The window fetches nothing from the network."));
    setFinished(true);
    open(ReadOnly | Unbuffered);
    QTimer::singleShot(0, this, [this] {
      emit errorOccurred(error());
      emit finished();
    });
  }
  void abort() override {}
  bool isSequential() const override { return true; }

 protected:
  qint64 readData(char*, qint64) override { return -1; }
};

}  // namespace

QNetworkReply* NoNetwork::createRequest(Operation operation, const QNetworkRequest& request, QIODevice*) {
  return new RefusedReply(operation, request, this);
}

}  // namespace tandem::desktop

#include "no_network.moc"
