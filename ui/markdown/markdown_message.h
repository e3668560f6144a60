// One message as the window shows it: Markdown source in, blocks out. The source bytes are kept exactly; the
// chat model stays their owner and may write or append them at any time. GUI thread only.
#pragma once

#include <QByteArray>
#include <QFont>
#include <QObject>
#include <QString>
#include <QtQmlIntegration>
#include <vector>

#include "ui/markdown/block_model.h"
#include "ui/markdown/origin_runs.h"
#include "ui/markdown/splitter.h"

namespace tandem::markdown {

class MarkdownMessage : public QObject {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(QString text READ text WRITE setText NOTIFY changed)
  Q_PROPERTY(bool plain READ isPlain WRITE setPlain NOTIFY plainChanged)
  Q_PROPERTY(tandem::markdown::BlockModel* blocks READ blocks CONSTANT)
  Q_PROPERTY(int sourceSize READ sourceSize NOTIFY changed)
  Q_PROPERTY(int hiddenBytes READ hiddenBytes NOTIFY changed)
  Q_PROPERTY(bool finished READ isFinished NOTIFY finishedChanged)

 public:
  explicit MarkdownMessage(QObject* parent = nullptr);

  QString text() const;
  void setText(const QString& text) { setSource(text.toUtf8()); }
  bool isPlain() const { return plain_; }
  // Splits the text anew.
  void setPlain(bool plain);
  BlockModel* blocks() { return &blocks_; }
  const BlockModel* blocks() const { return &blocks_; }
  int sourceSize() const { return static_cast<int>(splitter_.source().size()); }
  int hiddenBytes() const { return static_cast<int>(splitter_.hiddenBytes()); }
  bool isFinished() const { return splitter_.finished(); }

  // Replaces everything by a finished text.
  void setSource(const QByteArray& utf8, const std::vector<OriginRun>& origins = {});
  // Adds to the text; the bytes may end inside a character. Each call lays the last block out anew, so all
  // that arrived for a frame is best given at once.
  void append(const QByteArray& utf8, const std::vector<OriginRun>& origins);
  void append(const QByteArray& utf8, int origin = 0) { append(utf8, {{utf8.size(), origin}}); }
  Q_INVOKABLE void append(const QString& text, int origin = 0) { append(text.toUtf8(), origin); }
  // Replaces the origins of the text there is.
  void setOrigins(const std::vector<OriginRun>& origins);
  // Nothing follows for now: the last line is shown as a whole line.
  Q_INVOKABLE void finish();
  Q_INVOKABLE void clear();
  // Shows the next part of a text that is too long to be shown at once.
  Q_INVOKABLE void showMore();

  // The exact code of the block that `row` belongs to, without the line end before its closing fence.
  Q_INVOKABLE QString codeText(int row) const;
  // Width in pixels of the longest line of the source, unwrapped.
  Q_INVOKABLE qreal naturalWidth(const QFont& font) const;

  const std::string& source() const { return splitter_.source(); }
  const OriginMap& origins() const { return origins_; }

 signals:
  void changed();
  void plainChanged();
  void finishedChanged();
  void originsChanged();

 private:
  void changeTo(std::size_t first, bool wasFinished);

  bool plain_ = false;
  BlockSplitter splitter_;
  OriginMap origins_;
  BlockModel blocks_;
};

}  // namespace tandem::markdown
