// Places the blocks of a message below each other, in the order of its children, and shows only those near
// what can be seen: what is out of sight costs a frame nothing, however long the message is. While a screen
// reader is at work every block stays shown, so that it can read the whole message. GUI thread only.
#pragma once

#include <QQuickItem>
#include <QtQmlIntegration>

namespace tandem::markdown {

class BlockColumn : public QQuickItem {
  Q_OBJECT
  QML_ELEMENT

 public:
  explicit BlockColumn(QQuickItem* parent = nullptr) : QQuickItem(parent) {}

 protected:
  void itemChange(ItemChange change, const ItemChangeData& data) override;
  void updatePolish() override;

 private:
  void showWhatIsNear();

  QMetaObject::Connection frames_;
  QRectF seen_;  // what is near, in the column's coordinates; empty: everything
  bool placed_ = false;
};

}  // namespace tandem::markdown
