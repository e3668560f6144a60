#include "app/desktop/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <QString>
#include <cstdio>
#include <memory>
#include <vector>

namespace tandem::desktop {
namespace {

constexpr std::size_t kLogBytes = 1 << 20;
constexpr std::size_t kLogFiles = 3;

spdlog::level::level_enum levelOf(QtMsgType type) {
  switch (type) {
    case QtDebugMsg:
      return spdlog::level::debug;
    case QtInfoMsg:
      return spdlog::level::info;
    case QtWarningMsg:
      return spdlog::level::warn;
    case QtCriticalMsg:
    case QtFatalMsg:
      return spdlog::level::critical;
  }
  return spdlog::level::warn;
}

void onQtMessage(QtMsgType type, const QMessageLogContext&, const QString& message) {
  spdlog::log(levelOf(type), "{}", message.toStdString());
}

}  // namespace

void startLog(const Places& places) {
  auto console = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  console->set_level(spdlog::level::warn);
  std::vector<spdlog::sink_ptr> sinks{console};
  try {
    sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(places.logFile().string(),
                                                                           kLogBytes, kLogFiles));
  } catch (const spdlog::spdlog_ex& error) {
    std::fprintf(stderr, "tandem: the log file could not be opened: %s\n", error.what());
  }
  auto logger = std::make_shared<spdlog::logger>("tandem", sinks.begin(), sinks.end());
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(logger);
  qInstallMessageHandler(onQtMessage);
}

}  // namespace tandem::desktop
