// Fills the QTextDocument of a TextEdit with one block of a message and keeps it up to date: only what
// differs from the text already there is replaced, so a streamed block costs what is new in it, and a
// selection in the text before stays. Lives beside its TextEdit in QML; GUI thread only.
#pragma once

#include <QColor>
#include <QList>
#include <QObject>
#include <QPointer>
#include <QQmlParserStatus>
#include <QQuickTextDocument>
#include <QTextCharFormat>
#include <QTextTable>
#include <QtQmlIntegration>
#include <memory>
#include <vector>

#include "ui/markdown/code_highlighter.h"
#include "ui/markdown/markdown_message.h"

class QTextCursor;
class QTextDocument;

namespace tandem::markdown {

class BlockDocument : public QObject, public QQmlParserStatus {
  Q_OBJECT
  QML_ELEMENT
  Q_INTERFACES(QQmlParserStatus)
  Q_PROPERTY(tandem::markdown::MarkdownMessage* message MEMBER message_ WRITE setMessage NOTIFY inputChanged)
  Q_PROPERTY(int row MEMBER row_ NOTIFY inputChanged)
  Q_PROPERTY(int revision MEMBER revision_ NOTIFY inputChanged)
  Q_PROPERTY(QQuickTextDocument* document MEMBER quickDocument_ NOTIFY inputChanged)
  Q_PROPERTY(qreal textSize MEMBER textSize_ NOTIFY styleChanged)
  Q_PROPERTY(qreal lineHeight MEMBER lineHeight_ NOTIFY styleChanged)
  Q_PROPERTY(QString codeFamily MEMBER codeFamily_ NOTIFY styleChanged)
  Q_PROPERTY(QColor linkColor MEMBER linkColor_ NOTIFY styleChanged)
  Q_PROPERTY(QColor mutedColor MEMBER mutedColor_ NOTIFY styleChanged)
  Q_PROPERTY(QColor borderColor MEMBER borderColor_ NOTIFY styleChanged)
  Q_PROPERTY(QList<QColor> syntaxColors MEMBER syntaxColors_ NOTIFY styleChanged)
  Q_PROPERTY(QString language MEMBER language_ NOTIFY styleChanged)
  Q_PROPERTY(bool rightToLeft READ isRightToLeft NOTIFY filled)
  Q_PROPERTY(int linkCount READ linkCount NOTIFY filled)
  Q_PROPERTY(qreal idealWidth READ idealWidth NOTIFY filled)
  Q_PROPERTY(QString spokenText READ spokenText NOTIFY spokenTextChanged)

 public:
  // Part of the document, in positions of its characters.
  struct Span {
    int start = 0;
    int length = 0;
    int origin = 0;
  };

  explicit BlockDocument(QObject* parent = nullptr);

  void classBegin() override {}
  void componentComplete() override;

  void setMessage(MarkdownMessage* message);
  bool isRightToLeft() const { return shown_.rightToLeft; }
  int linkCount() const { return static_cast<int>(linkSpans_.size()); }
  // Width of the longest line of code in pixels.
  qreal idealWidth() const;
  // What a screen reader reads. While a text streams it stays as it was when its block was last complete.
  QString spokenText() const { return spokenText_; }
  Q_INVOKABLE int linkStart(int link) const;
  Q_INVOKABLE int linkEnd(int link) const;
  Q_INVOKABLE QString linkAddress(int link) const;

  QTextDocument* textDocument() const;
  std::vector<Span> tints() const;
  // Inline code, to be drawn on a small plate.
  std::vector<Span> plates() const;

 signals:
  void inputChanged();
  void styleChanged();
  void filled();
  void spokenTextChanged();
  void tintsChanged();

 private:
  void update();
  void refill();
  void fillText(const RenderedBlock& next);
  void fillCode(const RenderedBlock& next);
  void fillTable(const RenderedBlock& next, const std::string& aligns);
  void makeTable(const RenderedBlock& next);
  void fillCell(const RenderedBlock& next, std::size_t cell, char align);
  void insertRuns(QTextCursor& cursor, const RenderedBlock& next, int from, int to) const;
  void replaceFrom(int position, const RenderedBlock& next);
  void keepGlyphs(int position);
  QTextCharFormat formatOf(const TextRun& run, const RenderedBlock& block) const;
  void setBlockFormat();
  void noteLinks();
  void noteSpokenText();
  bool isOpenEnd() const;
  Span documentSpan(int start, int length, int origin) const;

  QPointer<MarkdownMessage> message_;
  int row_ = -1;
  int revision_ = 0;
  QPointer<QQuickTextDocument> quickDocument_;
  qreal textSize_ = 15;
  qreal lineHeight_ = 1.3;
  QString codeFamily_;
  QColor linkColor_;
  QColor mutedColor_;
  QColor borderColor_;
  QList<QColor> syntaxColors_;
  QString language_;

  bool complete_ = false;
  RenderedBlock shown_;  // what the document holds
  LeafKind shownKind_ = LeafKind::kParagraph;
  QPointer<QTextTable> table_;
  std::vector<Span> linkSpans_;  // origin: index into shown_.links
  QString spokenText_;
  bool spokenStale_ = false;
  CodeHighlighter* highlighter_ = nullptr;
};

}  // namespace tandem::markdown
