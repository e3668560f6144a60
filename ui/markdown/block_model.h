// The blocks of one message as a list model: what a delegate needs to lay a block out. The text itself never
// passes through roles; a BlockDocument fetches it by row when `revision` changes. Owned by its
// MarkdownMessage; GUI thread only.
#pragma once

#include <QAbstractListModel>
#include <QTimer>
#include <QtQmlIntegration>
#include <optional>
#include <vector>

#include "ui/markdown/rendered_block.h"
#include "ui/markdown/splitter.h"

namespace tandem::markdown {

class BlockModel : public QAbstractListModel {
  Q_OBJECT
  QML_ELEMENT
  QML_UNCREATABLE("A message owns its blocks")

 public:
  enum Kind { Paragraph, Heading, Code, Table, Rule, Plain };
  Q_ENUM(Kind)
  enum Task { NoTask, OpenTask, DoneTask };
  Q_ENUM(Task)

  enum Role {
    kKind = Qt::UserRole + 1,  // int, a Kind
    kLevel,                    // int, 1 to 6 for a heading
    kContainers,               // string, outermost first: "Q" a quote, "L" a list item
    kShared,                   // int, how many containers are also those of the row before
    kMarker,                   // string, "•" or "3."; empty but for the first block of an item
    kTask,                     // int, a Task
    kLanguage,                 // string, info word of a code block
    kContinues,                // bool, the row before was cut and goes on here
    kContinued,                // bool, the next row goes on with this one
    kTight,                    // bool, close to the row before
    kWrap,                     // bool, code that is wrapped
    kRevision,                 // int, rises when the text changed
  };

  explicit BlockModel(QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

  // Takes over the leaves of `splitter` from index `first` on; earlier ones must not have changed. The
  // splitter outlives the model's use of it.
  void sync(const BlockSplitter& splitter, std::size_t first);
  // Forgets all rows.
  void clear();

  // The visible text of a row, rendered when first asked for. An unknown row is empty.
  const RenderedBlock& rendered(int row);
  const Leaf& leaf(int row) const { return entries_[static_cast<std::size_t>(row)].leaf; }
  bool hasRow(int row) const { return row >= 0 && static_cast<std::size_t>(row) < entries_.size(); }
  // The state the code scanner begins a row in.
  int lexStateBefore(int row);
  // Blocks in all, also those not yet handed to the view.
  int blockCount() const { return static_cast<int>(entries_.size()); }

 private:
  struct Entry {
    Leaf leaf;
    int revision = 0;
    std::optional<RenderedBlock> rendered;
    std::optional<int> lexStateAfter;
  };

  bool continued(std::size_t row) const;
  void update(Entry& entry, const Leaf& leaf);
  void exposeMore();

  const BlockSplitter* splitter_ = nullptr;
  std::vector<Entry> entries_;
  std::size_t exposed_ = 0;  // rows the view knows of
  QTimer timer_;
};

}  // namespace tandem::markdown
