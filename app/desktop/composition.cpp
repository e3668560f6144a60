#include "app/desktop/composition.h"

#include <spdlog/spdlog.h>
#include <time.h>
#include <unistd.h>

#include <QDir>
#include <QFileInfo>
#include <QFont>
#include <QGuiApplication>
#include <QQmlComponent>
#include <QQuickStyle>
#include <QVariant>
#include <fstream>
#include <sstream>
#include <string>

#include "app/desktop/no_network.h"
#include "app/desktop/window_place.h"

namespace tandem::desktop {
namespace {

QString text(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}

bool hasGraphicsCard() {
  return !QDir(QStringLiteral("/dev/dri")).entryList(QDir::System).isEmpty() ||
         QFileInfo::exists(QStringLiteral("/dev/nvidia0"));
}

// Milliseconds since the system started this process, in steps of its clock (10 ms); -1: it does not tell.
double processAgeMs() {
  std::ifstream file("/proc/self/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t name = stat.rfind(')');  // the name before it may hold anything
  if (name == std::string::npos) return -1;
  std::istringstream fields(stat.substr(name + 1));
  std::string skipped;
  for (int i = 3; i < 22; ++i)
    fields >> skipped;
  double startTicks = 0;
  timespec now{};
  if (!(fields >> startTicks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return -1;
  const double startMs = 1000 * startTicks / static_cast<double>(sysconf(_SC_CLK_TCK));
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec) - startMs;
}

QQmlNetworkAccessManagerFactory* noNetwork() {
  static NoNetworkFactory factory;
  return &factory;
}

}  // namespace

Composition::Composition(storage::Store& store, service::EngineBackend& backend, const Places& places)
    : session_(store, backend, {text(places.settingsFile()), text(places.models())}),
      placeFile_(text(places.state / "window.ini")) {
  engine_.setNetworkAccessManagerFactory(noNetwork());
  engine_.addImportPath(QStringLiteral("qrc:/qt/qml"));
}

Composition::~Composition() {
  if (place_) {
    place_->save();
  }
}

Status Composition::show(const QString& model) {
  QQmlComponent component(&engine_, QUrl(QStringLiteral("qrc:/qt/qml/Tandem/Shell/Main.qml")));
  window_.reset(qobject_cast<QQuickWindow*>(
      component.createWithInitialProperties({{"session", QVariant::fromValue(&session_)}})));
  if (window_ == nullptr) {
    spdlog::error("{}", component.errorString().toStdString());
    return Error{ErrorCode::kInternal,
                 "The window's parts could not be loaded; the log names what is missing. Install the program "
                 "again with the qml6-module packages it asks for."};
  }
  engine_.setIncubationController(window_->incubationController());  // far rows are made between frames
  place_ = std::make_unique<WindowPlace>(window_.get(), placeFile_);
  place_->restore();
  QObject::connect(
      window_.get(), &QQuickWindow::frameSwapped, window_.get(),
      [] { spdlog::info("the window's first frame stands {:.0f} ms after the start", processAgeMs()); },
      Qt::ConnectionType(Qt::AutoConnection | Qt::SingleShotConnection));
  window_->show();
  window_->requestActivate();  // without a window manager nobody else gives it the keyboard
  session_.start(model);
  return {};
}

void Composition::raise() {
  if (window_ != nullptr) {
    window_->setVisible(true);
    if (window_->visibility() == QWindow::Minimized) {
      window_->showNormal();
    }
    window_->raise();
    window_->requestActivate();
  }
}

void prepareApplication() {
  QCoreApplication::setApplicationName(QStringLiteral("tandem"));
  QCoreApplication::setApplicationVersion(QStringLiteral(TANDEM_VERSION));
  QGuiApplication::setApplicationDisplayName(QStringLiteral("Tandem"));
  QGuiApplication::setDesktopFileName(QStringLiteral("tandem"));
  QGuiApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
  QQuickStyle::setStyle(QStringLiteral("Basic"));
  // Where the CPU would have to compute OpenGL, Qt's own renderer paints the same window in less time, and
  // the first frame need not wait for shaders to be compiled. A person's choice by QT_QUICK_BACKEND stands.
  if (!hasGraphicsCard() && !qEnvironmentVariableIsSet("QT_QUICK_BACKEND")) {
    QQuickWindow::setGraphicsApi(QSGRendererInterface::Software);
  }
}

void finishApplication() {
  QFont font(QStringLiteral("Inter"));
  font.setPixelSize(13);
  QGuiApplication::setFont(font);
}

}  // namespace tandem::desktop
