// A small line icon drawn from resources/icons/icons.txt: crisp at every scale and with every renderer,
// without an SVG plug-in. GUI thread and render thread as every QQuickPaintedItem.
#pragma once

#include <QtQml/qqmlregistration.h>

#include <QColor>
#include <QQuickPaintedItem>
#include <QString>

namespace tandem::ui {

class Icon : public QQuickPaintedItem {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(QString name READ name WRITE setName NOTIFY changed)
  Q_PROPERTY(QColor color READ color WRITE setColor NOTIFY changed)
  Q_PROPERTY(double stroke READ stroke WRITE setStroke NOTIFY changed)  // line width on the 24-unit grid

 public:
  explicit Icon(QQuickItem* parent = nullptr);

  QString name() const { return name_; }
  QColor color() const { return color_; }
  double stroke() const { return stroke_; }
  void setName(const QString& name);
  void setColor(const QColor& color);
  void setStroke(double stroke);

  void paint(QPainter* painter) override;

 signals:
  void changed();

 private:
  QString name_;
  QColor color_ = Qt::gray;
  double stroke_ = 1.75;
};

}  // namespace tandem::ui
