#include "ui/models/app_settings.h"

#include <algorithm>
#include <cmath>

namespace tandem::ui {

AppSettings::AppSettings(const QString& file, QObject* parent)
    : QObject(parent), file_(file, QSettings::IniFormat) {}

void AppSettings::store(const QString& key, const QVariant& value) {
  if (file_.value(key) == value) {
    return;
  }
  file_.setValue(key, value);
  file_.sync();
  emit changed();
}

// A hand-edited or damaged file must not bring a value that the engine refuses.
double AppSettings::number(const QString& key, double fallback, double low, double high) const {
  bool ok = false;
  const double value = file_.value(key, fallback).toDouble(&ok);
  return ok && std::isfinite(value) ? std::clamp(value, low, high) : fallback;
}

AppSettings::Theme AppSettings::theme() const {
  return static_cast<Theme>(static_cast<int>(number("look/theme", System, System, Dark)));
}
double AppSettings::textScale() const {
  return number("look/textScale", 1.0, 0.8, 1.6);
}
bool AppSettings::tintOrigins() const {
  return file_.value("look/tintOrigins", false).toBool();
}
int AppSettings::threads() const {
  return static_cast<int>(number("engine/threads", 0, 0, 256));
}
double AppSettings::cacheMemoryGib() const {
  return number("caches/memoryGib", 0, 0, 1024);
}
int AppSettings::cacheDiskGib() const {
  return static_cast<int>(number("caches/diskGib", 4, 1, 1 << 14));
}
bool AppSettings::cacheOnDisk() const {
  return file_.value("caches/disk", true).toBool();
}
bool AppSettings::cacheEndAnchor() const {
  return file_.value("caches/endAnchor", true).toBool();
}
int AppSettings::cacheGrid() const {
  return static_cast<int>(number("caches/grid", 1024, 64, 1 << 16));
}
QString AppSettings::systemPrompt() const {
  return file_.value("answer/systemPrompt").toString();
}
double AppSettings::temperature() const {
  return number("answer/temperature", 0.0, 0.0, 2.0);
}
int AppSettings::topK() const {
  return static_cast<int>(number("answer/topK", 0, 0, 1000));
}
double AppSettings::topP() const {
  return number("answer/topP", 1.0, 0.01, 1.0);
}
double AppSettings::minP() const {
  return number("answer/minP", 0.0, 0.0, 1.0);
}
int AppSettings::maxTokens() const {
  return static_cast<int>(number("answer/maxTokens", 0, 0, 1 << 20));
}
bool AppSettings::speculation() const {
  return file_.value("answer/speculation", true).toBool();
}
bool AppSettings::responseCache() const {
  return file_.value("answer/responseCache", false).toBool();
}
bool AppSettings::regenerateSamples() const {
  return file_.value("answer/regenerateSamples", true).toBool();
}
QString AppSettings::modelPath() const {
  return file_.value("engine/model").toString();
}

void AppSettings::setTheme(Theme theme) {
  store("look/theme", static_cast<int>(theme));
}
void AppSettings::setTextScale(double scale) {
  store("look/textScale", scale);
}
void AppSettings::setTintOrigins(bool on) {
  store("look/tintOrigins", on);
}
void AppSettings::setThreads(int threads) {
  store("engine/threads", threads);
}
void AppSettings::setCacheMemoryGib(double gib) {
  store("caches/memoryGib", gib);
}
void AppSettings::setCacheDiskGib(int gib) {
  store("caches/diskGib", gib);
}
void AppSettings::setCacheOnDisk(bool on) {
  store("caches/disk", on);
}
void AppSettings::setCacheEndAnchor(bool on) {
  store("caches/endAnchor", on);
}
void AppSettings::setCacheGrid(int positions) {
  store("caches/grid", positions);
}
void AppSettings::setSystemPrompt(const QString& prompt) {
  store("answer/systemPrompt", prompt);
}
void AppSettings::setTemperature(double value) {
  store("answer/temperature", value);
}
void AppSettings::setTopK(int value) {
  store("answer/topK", value);
}
void AppSettings::setTopP(double value) {
  store("answer/topP", value);
}
void AppSettings::setMinP(double value) {
  store("answer/minP", value);
}
void AppSettings::setMaxTokens(int value) {
  store("answer/maxTokens", value);
}
void AppSettings::setSpeculation(bool on) {
  store("answer/speculation", on);
}
void AppSettings::setResponseCache(bool on) {
  store("answer/responseCache", on);
}
void AppSettings::setRegenerateSamples(bool on) {
  store("answer/regenerateSamples", on);
}
void AppSettings::setModelPath(const QString& path) {
  store("engine/model", path);
}

service::CacheSettings AppSettings::caches() const {
  constexpr double kGib = 1 << 30;
  service::CacheSettings settings;
  if (cacheMemoryGib() > 0) settings.memoryBudget = static_cast<std::size_t>(cacheMemoryGib() * kGib);
  settings.diskBudget = static_cast<std::uint64_t>(cacheDiskGib()) << 30;
  settings.disk = cacheOnDisk();
  settings.endAnchor = cacheEndAnchor();
  settings.grid = cacheGrid();
  return settings;
}

AnswerSettings AppSettings::answerDefaults() const {
  AnswerSettings settings;
  settings.sampling.temperature = static_cast<float>(temperature());
  settings.sampling.topK = topK();
  settings.sampling.topP = static_cast<float>(topP());
  settings.sampling.minP = static_cast<float>(minP());
  settings.maxTokens = maxTokens();
  settings.speculation = speculation() ? SpeculationOptions() : SpeculationOptions::off();
  settings.responseCache = responseCache();
  settings.regenerateSamples = regenerateSamples();
  return settings;
}

}  // namespace tandem::ui
