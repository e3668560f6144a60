#include "ui/models/model_library.h"

#include <QDir>
#include <QFileInfo>
#include <QLocale>
#include <utility>

namespace tandem::ui {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

QString bytesText(quint64 bytes) {
  return QLocale().formattedDataSize(static_cast<qint64>(bytes), 1, QLocale::DataSizeSIFormat);
}

QString parametersText(quint64 parameters) {
  if (parameters >= 1'000'000'000) {
    return ModelLibrary::tr("%1 B parameters").arg(QLocale().toString(double(parameters) / 1e9, 'f', 1));
  }
  return ModelLibrary::tr("%1 M parameters").arg(QLocale().toString(double(parameters) / 1e6, 'f', 0));
}

QString quantization(const service::ModelInfo& info) {
  return QString::fromStdString(info.quantization);
}

// "SmolLM2-135M-Instruct.Q4_1.gguf" of type Q4_1 is "SmolLM2 135M Instruct".
QString plainName(const QString& path, const QString& type) {
  QString name = QFileInfo(path).completeBaseName();
  if (!type.isEmpty() && name.endsWith(type, Qt::CaseInsensitive)) {
    name.chop(type.size());
  }
  name.replace(QLatin1Char('-'), QLatin1Char(' ')).replace(QLatin1Char('_'), QLatin1Char(' '));
  while (name.endsWith(QLatin1Char('.')) || name.endsWith(QLatin1Char(' '))) {
    name.chop(1);
  }
  return name.isEmpty() ? QFileInfo(path).fileName() : name;
}

}  // namespace

ModelLibrary::ModelLibrary(service::EngineBackend& backend, QString folder, QObject* parent)
    : QAbstractListModel(parent), backend_(backend), folder_(std::move(folder)), post_(this) {
  info_ = backend_.model();
  watcher_.addPath(folder_);
  connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, &ModelLibrary::rescan);
  rescan();
}

int ModelLibrary::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(files_.size());
}

QHash<int, QByteArray> ModelLibrary::roleNames() const {
  return {{NameRole, "name"},
          {PathRole, "path"},
          {SizeRole, "size"},
          {CurrentRole, "current"},
          {LoadingRole, "loading"}};
}

QVariant ModelLibrary::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
    return {};
  }
  const File& file = files_[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
    case NameRole:
      return QFileInfo(file.path).completeBaseName();
    case PathRole:
      return file.path;
    case SizeRole:
      return bytesText(static_cast<quint64>(file.bytes));
    case CurrentRole:
      return info_ && file.path == path();
    case LoadingRole:
      return file.path == loadingPath_;
    default:
      return {};
  }
}

QString ModelLibrary::loadingName() const {
  return QFileInfo(loadingPath_).completeBaseName();
}

// The file's name is what the person knows; what the file calls itself is often a training run's.
QString ModelLibrary::name() const {
  return info_ ? plainName(path(), quantization(*info_)) : QString();
}

QString ModelLibrary::label() const {
  if (!info_) {
    return {};
  }
  const QString type = quantization(*info_);
  return type.isEmpty() ? name() : name() + QStringLiteral(" · ") + type;
}

QString ModelLibrary::details() const {
  if (!info_) {
    return {};
  }
  const QLocale locale;
  QStringList parts;
  if (!info_->name.empty()) {
    parts << QString::fromStdString(info_->name);
  }
  parts << QString::fromStdString(info_->architecture);
  if (info_->parameters > 0) {
    parts << parametersText(info_->parameters);
  }
  parts << bytesText(info_->fileBytes);
  parts << tr("context %1").arg(locale.toString(info_->contextLength));
  parts << tr("vocabulary %1").arg(locale.toString(info_->vocabSize));
  parts << tr("%1 kernels").arg(QString::fromStdString(info_->kernelSet));
  parts << (info_->threads == 1 ? tr("1 thread") : tr("%1 threads").arg(info_->threads));
  return parts.join(QStringLiteral("  ·  "));
}

QString ModelLibrary::endTokens() const {
  QStringList texts;
  if (info_) {
    for (const service::EndTokenInfo& token : info_->endTokens) {
      texts << QString::fromStdString(token.text);
    }
  }
  return texts.join(QStringLiteral("  "));
}

void ModelLibrary::load(const QString& pathOrUrl) {
  const QUrl url(pathOrUrl);
  const QString file = url.isLocalFile() ? url.toLocalFile() : QDir::cleanPath(pathOrUrl.trimmed());
  if (pathOrUrl.trimmed().isEmpty()) {
    return;
  }
  emit aboutToLoad();
  loadingPath_ = QFileInfo(file).absoluteFilePath();
  progress_ = 0;
  problem_.clear();
  const quint64 number = ++loads_;
  rowsChanged({LoadingRole});
  service::LoadOptions options;
  options.threads = threads_;
  options.measurePasses = true;
  backend_.loadModel(loadingPath_.toStdString(), options,
                     [sender = post_.sender(), this, number](service::LoadEvent event) {
                       sender([this, number, event = std::move(event)] { onEvent(number, event); });
                     });
}

void ModelLibrary::reload() {
  if (info_) {
    load(path());
  }
}

void ModelLibrary::onEvent(quint64 load, const service::LoadEvent& event) {
  if (load != loads_) {
    return;
  }
  std::visit(Overloaded{[this](const service::LoadProgressEvent& progress) {
                          progress_ = progress.fraction;
                          emit changed();
                        },
                        [this](const service::ModelInfo& info) {
                          info_ = info;
                          loadingPath_.clear();
                          rowsChanged({CurrentRole, LoadingRole});
                          emit loaded(path());
                        },
                        [this](const Error& error) {
                          problem_ = tr("%1 could not be opened. %2")
                                         .arg(QFileInfo(loadingPath_).fileName(),
                                              QString::fromStdString(error.describe()));
                          loadingPath_.clear();
                          rowsChanged({LoadingRole});
                        }},
             event);
}

void ModelLibrary::rowsChanged(const QList<int>& roles) {
  if (!files_.empty()) {
    emit dataChanged(index(0), index(count() - 1), roles);
  }
  emit changed();
}

void ModelLibrary::dismissProblem() {
  problem_.clear();
  emit changed();
}

void ModelLibrary::rescan() {
  std::vector<File> found;
  const QDir folder(folder_);
  for (const QFileInfo& file :
       folder.entryInfoList({QStringLiteral("*.gguf")}, QDir::Files | QDir::Readable, QDir::Name)) {
    found.push_back({file.absoluteFilePath(), file.size()});
  }
  beginResetModel();
  files_ = std::move(found);
  endResetModel();
  emit listChanged();
}

QString ModelLibrary::startChoice(const QString& openedLast) const {
  if (!openedLast.isEmpty() && QFileInfo::exists(openedLast)) {
    return openedLast;
  }
  return files_.empty() ? QString() : files_.front().path;
}

}  // namespace tandem::ui
