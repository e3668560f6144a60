// Refuses every network request that QML could make: the window shows text of models, files and people, and
// nothing of it may reach out.
#pragma once

#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QQmlNetworkAccessManagerFactory>

namespace tandem::desktop {

class NoNetwork : public QNetworkAccessManager {
  Q_OBJECT

 public:
  using QNetworkAccessManager::QNetworkAccessManager;

 protected:
  QNetworkReply* createRequest(Operation operation, const QNetworkRequest& request, QIODevice* data) override;
};

class NoNetworkFactory : public QQmlNetworkAccessManagerFactory {
 public:
  QNetworkAccessManager* create(QObject* parent) override { return new NoNetwork(parent); }
};

}  // namespace tandem::desktop
