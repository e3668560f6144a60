// The window's icons as painter paths on a 24 x 24 grid. The drawings are text in resources/icons/icons.txt:
// one icon a line, `name: commands`, with absolute coordinates:
//   M x y        move           L x y              line
//   C 6 numbers  cubic curve    Q 4 numbers        quadratic curve
//   Z            close          O cx cy r          circle
//   R x y w h r  rounded rectangle
#pragma once

#include <QPainterPath>
#include <QString>

namespace tandem::ui {

// The icon's outline; empty when there is no such icon. Read once; GUI and render threads may both ask.
QPainterPath iconPath(const QString& name);

// Reads one drawing. Stops at the first thing it does not understand; `ok` says whether it came to the end.
QPainterPath parseIcon(const QString& commands, bool* ok = nullptr);

}  // namespace tandem::ui
