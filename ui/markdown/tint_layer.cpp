#include "ui/markdown/tint_layer.h"

#include <QAbstractTextDocumentLayout>
#include <QQuickWindow>
#include <QSGNode>
#include <QSGRectangleNode>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <algorithm>

namespace tandem::markdown {

namespace {

constexpr qreal kSide = 2;      // pixels a plate reaches beyond its text
constexpr qreal kGap = 1;       // pixels left free between the plates of two lines
constexpr qreal kCorner = 2;    // depth of a corner
constexpr qreal kMargin = 200;  // pixels beyond the visible part that are drawn too

}  // namespace

TintLayer::TintLayer(QQuickItem* parent) : QQuickItem(parent) {
  setFlag(ItemHasContents);
  setFlag(ItemObservesViewport);
  connect(this, &TintLayer::changed, this, &TintLayer::polish);
}

void TintLayer::setSource(BlockDocument* source) {
  if (source == source_) return;
  if (source_) source_->disconnect(this);
  source_ = source;
  if (source_) {
    connect(source_, &BlockDocument::tintsChanged, this, &TintLayer::polish);
    connect(source_, &BlockDocument::filled, this, [this] {
      if (QTextDocument* document = source_->textDocument()) {
        connect(document->documentLayout(), &QAbstractTextDocumentLayout::update, this, &TintLayer::polish,
                Qt::UniqueConnection);
      }
      polish();
    });
  }
  emit changed();
}

void TintLayer::updatePolish() {
  const std::size_t before = plates_.size();
  plates_.clear();
  if (source_ && source_->textDocument()) {
    if (plateColor_.alpha() > 0) {
      for (const BlockDocument::Span& span : source_->plates())
        addPlates(span, plateColor_);
    }
    if (showOrigins_) {
      for (const BlockDocument::Span& span : source_->tints()) {
        const QColor color = origins_.value(span.origin);
        if (color.isValid() && color.alpha() > 0) addPlates(span, color);
      }
    }
  }
  if (plates_.size() != before) emit platesChanged();
  update();
}

// One plate for each line the span touches.
void TintLayer::addPlates(const BlockDocument::Span& span, const QColor& color) {
  const QTextDocument* document = source_->textDocument();
  const int spanEnd = span.start + span.length;
  for (QTextBlock block = document->findBlock(span.start); block.isValid() && block.position() < spanEnd;
       block = block.next()) {
    const QTextLayout* layout = block.layout();
    const QRectF blockBox = document->documentLayout()->blockBoundingRect(block);
    const int begin = std::max(span.start - block.position(), 0);
    const int end = std::min(spanEnd - block.position(), block.length() - 1);
    for (int i = 0; i < layout->lineCount(); ++i) {
      const QTextLine line = layout->lineAt(i);
      const int from = std::max(begin, line.textStart());
      const int to = std::min(end, line.textStart() + line.textLength());
      if (from >= to) continue;
      const qreal x1 = line.cursorToX(from);
      const qreal x2 = line.cursorToX(to);
      if (x1 == x2) continue;
      const qreal next = i + 1 < layout->lineCount() ? layout->lineAt(i + 1).y() : blockBox.height();
      // The space of a high line lies below its text: a tint takes half of it on each side, a plate none.
      const qreal space = span.origin == 0 ? 0 : std::max(0.0, next - line.y() - line.height());
      QRectF box(std::min(x1, x2), line.y() - space / 2, std::abs(x2 - x1), line.height() + space);
      box.translate(blockBox.topLeft());
      plates_.push_back({box.adjusted(-kSide, kGap, kSide, -kGap), color, span.origin});
    }
  }
}

// Only what can be seen gets nodes: a long answer has thousands of plates.
QSGNode* TintLayer::updatePaintNode(QSGNode* node, UpdatePaintNodeData*) {
  // A transform node, although it moves nothing: below a plain node the software renderer gives rectangles that
  // come later the window's place instead of the item's.
  if (!node) node = new QSGTransformNode;
  const QRectF visible = clipRect().adjusted(0, -kMargin, 0, kMargin);
  auto* next = static_cast<QSGRectangleNode*>(node->firstChild());
  const auto place = [&](const QRectF& box, const QColor& color) {
    if (!next) {
      next = window()->createRectangleNode();
      node->appendChildNode(next);
    }
    next->setRect(box);
    next->setColor(color);
    next = static_cast<QSGRectangleNode*>(next->nextSibling());
  };
  for (const Plate& plate : plates_) {
    if (!plate.box.intersects(visible)) continue;
    // Three rectangles: the middle, and a shorter one at each side for the look of round corners.
    const QRectF box(plate.box.toRect());
    const QRectF left(box.left(), box.top() + kCorner, kCorner, box.height() - 2 * kCorner);
    const QRectF right(box.right() - kCorner, left.top(), kCorner, left.height());
    place(box.adjusted(kCorner, 0, -kCorner, 0), plate.color);
    place(left, plate.color);
    place(right, plate.color);
  }
  while (next) {
    auto* rest = static_cast<QSGRectangleNode*>(next->nextSibling());
    delete next;
    next = rest;
  }
  return node;
}

}  // namespace tandem::markdown
