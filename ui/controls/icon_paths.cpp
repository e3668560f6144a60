#include "ui/controls/icon_paths.h"

#include <QFile>
#include <QHash>
#include <QStringList>
#include <array>

namespace tandem::ui {
namespace {

int argumentsOf(QChar command) {
  switch (command.unicode()) {
    case 'Z':
      return 0;
    case 'M':
    case 'L':
      return 2;
    case 'O':
      return 3;
    case 'Q':
      return 4;
    case 'R':
      return 5;
    case 'C':
      return 6;
    default:
      return -1;
  }
}

void draw(QPainterPath& path, QChar command, const std::array<double, 6>& a) {
  switch (command.unicode()) {
    case 'Z':
      path.closeSubpath();
      break;
    case 'M':
      path.moveTo(a[0], a[1]);
      break;
    case 'L':
      path.lineTo(a[0], a[1]);
      break;
    case 'O':
      path.addEllipse({a[0], a[1]}, a[2], a[2]);
      break;
    case 'Q':
      path.quadTo(a[0], a[1], a[2], a[3]);
      break;
    case 'R':
      path.addRoundedRect(a[0], a[1], a[2], a[3], a[4], a[4]);
      break;
    case 'C':
      path.cubicTo(a[0], a[1], a[2], a[3], a[4], a[5]);
      break;
    default:
      break;
  }
}

QHash<QString, QPainterPath> readIcons() {
  QHash<QString, QPainterPath> icons;
  QFile file(QStringLiteral(":/tandem/icons/icons.txt"));
  if (!file.open(QIODevice::ReadOnly)) {
    return icons;
  }
  for (const QString& line : QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts)) {
    const qsizetype colon = line.indexOf(':');
    if (colon > 0 && !line.startsWith('#')) {
      icons.insert(line.left(colon).trimmed(), parseIcon(line.mid(colon + 1)));
    }
  }
  return icons;
}

}  // namespace

QPainterPath parseIcon(const QString& commands, bool* ok) {
  QPainterPath path;
  const QStringList words = commands.split(' ', Qt::SkipEmptyParts);
  bool good = true;
  for (qsizetype at = 0; at < words.size() && good;) {
    const QChar command = words[at].front();
    const int wanted = words[at].size() == 1 ? argumentsOf(command) : -1;
    good = wanted >= 0 && at + wanted < words.size();
    std::array<double, 6> numbers{};
    for (int i = 0; good && i < wanted; ++i) {
      numbers[static_cast<std::size_t>(i)] = words[at + 1 + i].toDouble(&good);
    }
    if (good) {
      draw(path, command, numbers);
      at += 1 + wanted;
    }
  }
  if (ok != nullptr) {
    *ok = good;
  }
  return path;
}

QPainterPath iconPath(const QString& name) {
  static const QHash<QString, QPainterPath> icons = readIcons();
  return icons.value(name);
}

}  // namespace tandem::ui
