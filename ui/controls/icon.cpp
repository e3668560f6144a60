#include "ui/controls/icon.h"

#include <QPainter>
#include <algorithm>

#include "ui/controls/icon_paths.h"

namespace tandem::ui {
namespace {

constexpr double kGrid = 24;
constexpr int kUsualSize = 18;

}  // namespace

Icon::Icon(QQuickItem* parent) : QQuickPaintedItem(parent) {
  setImplicitSize(kUsualSize, kUsualSize);
  setAntialiasing(true);
}

void Icon::setName(const QString& name) {
  if (name != name_) {
    name_ = name;
    emit changed();
    update();
  }
}

void Icon::setColor(const QColor& color) {
  if (color != color_) {
    color_ = color;
    emit changed();
    update();
  }
}

void Icon::setStroke(double stroke) {
  if (stroke != stroke_) {
    stroke_ = stroke;
    emit changed();
    update();
  }
}

void Icon::paint(QPainter* painter) {
  const double scale = std::min(width(), height()) / kGrid;
  painter->setRenderHint(QPainter::Antialiasing);
  painter->translate((width() - kGrid * scale) / 2, (height() - kGrid * scale) / 2);
  painter->scale(scale, scale);
  painter->setPen(QPen(color_, stroke_, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter->drawPath(iconPath(name_));
}

}  // namespace tandem::ui
