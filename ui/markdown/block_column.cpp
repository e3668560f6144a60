#include "ui/markdown/block_column.h"

#include <QAccessible>
#include <QQuickWindow>
#include <utility>

namespace tandem::markdown {

void BlockColumn::itemChange(ItemChange change, const ItemChangeData& data) {
  if (change == ItemChildAddedChange) {
    connect(data.item, &QQuickItem::heightChanged, this, &BlockColumn::polish);
    polish();
  } else if (change == ItemChildRemovedChange) {
    data.item->disconnect(this);
    polish();
  } else if (change == ItemSceneChange) {
    // Whatever moves the message, by the time of the next frame it has done so.
    disconnect(frames_);
    if (data.window) {
      frames_ = connect(data.window, &QQuickWindow::afterAnimating, this, &BlockColumn::showWhatIsNear);
    }
  }
  QQuickItem::itemChange(change, data);
}

void BlockColumn::updatePolish() {
  qreal y = 0;
  for (QQuickItem* block : childItems()) {
    block->setY(y);
    y += block->height();
  }
  setImplicitHeight(y);
  placed_ = true;
}

// Near is what lies in the window, and as much again above and below it: the next step of the keyboard finds
// it there.
void BlockColumn::showWhatIsNear() {
  QRectF seen;
  if (!QAccessible::isActive()) {
    seen = mapRectFromScene(QRectF(QPointF(), window()->contentItem()->size()));
    seen.adjust(0, -seen.height(), 0, seen.height());
  }
  if (!std::exchange(placed_, false) && seen == seen_) return;
  seen_ = seen;
  const QQuickItem* focus = window()->activeFocusItem();
  for (QQuickItem* block : childItems()) {
    const bool near = block->y() < seen.bottom() && block->y() + block->height() > seen.top();
    block->setVisible(seen.isEmpty() || near || (focus && block->isAncestorOf(focus)));
  }
}

}  // namespace tandem::markdown
