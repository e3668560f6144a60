// What the person has chosen in Settings, kept in an ini file under the configuration folder. GUI thread
// only; every change is written at once, so nothing depends on a clean exit.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QObject>
#include <QSettings>
#include <QString>

#include "app/conversation/conversation_service.h"

namespace tandem::ui {

class AppSettings : public QObject {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("Owned by Session")
  Q_PROPERTY(Theme theme READ theme WRITE setTheme NOTIFY changed)
  Q_PROPERTY(double textScale READ textScale WRITE setTextScale NOTIFY changed)
  Q_PROPERTY(bool tintOrigins READ tintOrigins WRITE setTintOrigins NOTIFY changed)
  Q_PROPERTY(int threads READ threads WRITE setThreads NOTIFY changed)
  Q_PROPERTY(double cacheMemoryGib READ cacheMemoryGib WRITE setCacheMemoryGib NOTIFY changed)
  Q_PROPERTY(int cacheDiskGib READ cacheDiskGib WRITE setCacheDiskGib NOTIFY changed)
  Q_PROPERTY(bool cacheOnDisk READ cacheOnDisk WRITE setCacheOnDisk NOTIFY changed)
  Q_PROPERTY(bool cacheEndAnchor READ cacheEndAnchor WRITE setCacheEndAnchor NOTIFY changed)
  Q_PROPERTY(int cacheGrid READ cacheGrid WRITE setCacheGrid NOTIFY changed)
  Q_PROPERTY(QString systemPrompt READ systemPrompt WRITE setSystemPrompt NOTIFY changed)
  Q_PROPERTY(double temperature READ temperature WRITE setTemperature NOTIFY changed)
  Q_PROPERTY(int topK READ topK WRITE setTopK NOTIFY changed)
  Q_PROPERTY(double topP READ topP WRITE setTopP NOTIFY changed)
  Q_PROPERTY(double minP READ minP WRITE setMinP NOTIFY changed)
  Q_PROPERTY(int maxTokens READ maxTokens WRITE setMaxTokens NOTIFY changed)
  Q_PROPERTY(bool speculation READ speculation WRITE setSpeculation NOTIFY changed)
  Q_PROPERTY(bool responseCache READ responseCache WRITE setResponseCache NOTIFY changed)
  Q_PROPERTY(bool regenerateSamples READ regenerateSamples WRITE setRegenerateSamples NOTIFY changed)

 public:
  enum Theme { System = 0, Light = 1, Dark = 2 };
  Q_ENUM(Theme)

  explicit AppSettings(const QString& file, QObject* parent = nullptr);

  Theme theme() const;
  double textScale() const;
  bool tintOrigins() const;
  int threads() const;            // 0: chosen at load
  double cacheMemoryGib() const;  // 0: chosen by what is free
  int cacheDiskGib() const;
  bool cacheOnDisk() const;
  bool cacheEndAnchor() const;
  int cacheGrid() const;  // positions between two snapshots
  QString systemPrompt() const;
  double temperature() const;
  int topK() const;
  double topP() const;
  double minP() const;
  int maxTokens() const;  // 0: until the context is full
  bool speculation() const;
  bool responseCache() const;
  bool regenerateSamples() const;

  void setTheme(Theme theme);
  void setTextScale(double scale);
  void setTintOrigins(bool on);
  void setThreads(int threads);
  void setCacheMemoryGib(double gib);
  void setCacheDiskGib(int gib);
  void setCacheOnDisk(bool on);
  void setCacheEndAnchor(bool on);
  void setCacheGrid(int positions);
  void setSystemPrompt(const QString& prompt);
  void setTemperature(double value);
  void setTopK(int value);
  void setTopP(double value);
  void setMinP(double value);
  void setMaxTokens(int value);
  void setSpeculation(bool on);
  void setResponseCache(bool on);
  void setRegenerateSamples(bool on);

  // The model opened last; not a setting a person sees.
  QString modelPath() const;
  void setModelPath(const QString& path);

  service::CacheSettings caches() const;
  // The answer settings of a new conversation.
  AnswerSettings answerDefaults() const;

 signals:
  void changed();

 private:
  void store(const QString& key, const QVariant& value);
  double number(const QString& key, double fallback, double low, double high) const;

  mutable QSettings file_;
};

}  // namespace tandem::ui
