// Draws rounded plates behind parts of a text: tints by token origin, and the ground of inline code. It lies
// under a TextEdit of the same size and reads the line boxes of its document, so that switching tints on or
// off touches no text. GUI thread; painting follows Qt Quick's rules.
#pragma once

#include <QColor>
#include <QList>
#include <QPointer>
#include <QQuickItem>
#include <QtQmlIntegration>
#include <vector>

#include "ui/markdown/block_document.h"

namespace tandem::markdown {

class TintLayer : public QQuickItem {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(tandem::markdown::BlockDocument* source MEMBER source_ WRITE setSource NOTIFY changed)
  Q_PROPERTY(QList<QColor> origins MEMBER origins_ NOTIFY changed)
  Q_PROPERTY(bool showOrigins MEMBER showOrigins_ NOTIFY changed)
  Q_PROPERTY(QColor plateColor MEMBER plateColor_ NOTIFY changed)
  Q_PROPERTY(int plateCount READ plateCount NOTIFY platesChanged)

 public:
  struct Plate {
    QRectF box;
    QColor color;
    int origin = 0;  // 0: inline code
  };

  explicit TintLayer(QQuickItem* parent = nullptr);

  void setSource(BlockDocument* source);
  int plateCount() const { return static_cast<int>(plates_.size()); }
  const std::vector<Plate>& plates() const { return plates_; }

 signals:
  void changed();
  void platesChanged();

 protected:
  void updatePolish() override;
  QSGNode* updatePaintNode(QSGNode* node, UpdatePaintNodeData* data) override;

 private:
  void addPlates(const BlockDocument::Span& span, const QColor& color);

  QPointer<BlockDocument> source_;
  QList<QColor> origins_;
  bool showOrigins_ = false;
  QColor plateColor_;
  std::vector<Plate> plates_;
};

}  // namespace tandem::markdown
