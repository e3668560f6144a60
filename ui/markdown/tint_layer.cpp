#include "ui/markdown/tint_layer.h"

#include <QAbstractTextDocumentLayout>
#include <QPainter>
#include <QQuickWindow>
#include <QSGGeometryNode>
#include <QSGRenderNode>
#include <QSGRendererInterface>
#include <QSGVertexColorMaterial>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <algorithm>
#include <array>

namespace tandem::markdown {

namespace {

constexpr qreal kSide = 2;    // pixels a plate reaches beyond its text
constexpr qreal kGap = 1;     // pixels left free between the plates of two lines
constexpr qreal kCorner = 2;  // depth of a corner

// The middle of a plate, and a shorter piece at each side for the look of round corners.
std::array<QRectF, 3> piecesOf(const TintLayer::Plate& plate) {
  const QRectF box(plate.box.toRect());
  const QRectF left(box.left(), box.top() + kCorner, kCorner, box.height() - 2 * kCorner);
  return {box.adjusted(kCorner, 0, -kCorner, 0), left, left.translated(box.width() - kCorner, 0)};
}

// All plates of a layer are one node, of one kind for each renderer: the software renderer pays for every
// node with arithmetic on regions, and an answer has thousands of plates.
class PaintedPlates : public QSGRenderNode {
 public:
  explicit PaintedPlates(QQuickWindow* window) : window_(window) {}

  void show(const std::vector<TintLayer::Plate>& plates) {
    plates_ = plates;
    rect_ = {};
    for (const TintLayer::Plate& plate : plates_)
      rect_ |= QRectF(plate.box.toRect());
    markDirty(DirtyGeometry | DirtyMaterial);
  }
  void render(const RenderState* state) override {
    auto* painter = static_cast<QPainter*>(
        window_->rendererInterface()->getResource(window_, QSGRendererInterface::PainterResource));
    const QRegion* clip = state->clipRegion();
    if (clip && !clip->isEmpty()) painter->setClipRegion(*clip, Qt::ReplaceClip);  // in the window's pixels
    painter->setTransform(matrix()->toTransform());
    painter->setOpacity(inheritedOpacity());
    const QRectF visible = painter->clipBoundingRect();
    for (const TintLayer::Plate& plate : plates_) {
      if (!plate.box.intersects(visible)) continue;
      for (const QRectF& piece : piecesOf(plate))
        painter->fillRect(piece, plate.color);
    }
  }
  RenderingFlags flags() const override { return BoundedRectRendering; }
  QRectF rect() const override { return rect_; }

 private:
  QQuickWindow* window_;
  std::vector<TintLayer::Plate> plates_;
  QRectF rect_;
};

class PlateTriangles : public QSGGeometryNode {
 public:
  PlateTriangles() : geometry_(QSGGeometry::defaultAttributes_ColoredPoint2D(), 0) {
    geometry_.setDrawingMode(QSGGeometry::DrawTriangles);
    setGeometry(&geometry_);
    setMaterial(&material_);
  }

  void show(const std::vector<TintLayer::Plate>& plates) {
    geometry_.allocate(static_cast<int>(plates.size()) * 3 * 6);
    QSGGeometry::ColoredPoint2D* next = geometry_.vertexDataAsColoredPoint2D();
    for (const TintLayer::Plate& plate : plates) {
      for (const QRectF& piece : piecesOf(plate)) {
        for (const QPointF corner : {piece.topLeft(), piece.topRight(), piece.bottomLeft(), piece.topRight(),
                                     piece.bottomRight(), piece.bottomLeft()}) {
          set(*next++, corner, plate.color);
        }
      }
    }
    markDirty(DirtyGeometry);
  }

 private:
  static void set(QSGGeometry::ColoredPoint2D& point, QPointF place, const QColor& color) {
    const auto part = [&](float value) { return static_cast<uchar>(qRound(value * color.alphaF() * 255)); };
    point.set(static_cast<float>(place.x()), static_cast<float>(place.y()), part(color.redF()),
              part(color.greenF()), part(color.blueF()), static_cast<uchar>(color.alpha()));
  }

  QSGGeometry geometry_;
  QSGVertexColorMaterial material_;
};

template <class Node>
QSGNode* showPlates(Node* node, const std::vector<TintLayer::Plate>& plates) {
  node->show(plates);
  return node;
}

}  // namespace

TintLayer::TintLayer(QQuickItem* parent) : QQuickItem(parent) {
  setFlag(ItemHasContents);
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
  if (before > 0 || !plates_.empty()) update();
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

QSGNode* TintLayer::updatePaintNode(QSGNode* node, UpdatePaintNodeData*) {
  if (plates_.empty()) {
    delete node;
    return nullptr;
  }
  if (window()->rendererInterface()->graphicsApi() == QSGRendererInterface::Software) {
    return showPlates(node ? static_cast<PaintedPlates*>(node) : new PaintedPlates(window()), plates_);
  }
  return showPlates(node ? static_cast<PlateTriangles*>(node) : new PlateTriangles, plates_);
}

}  // namespace tandem::markdown
