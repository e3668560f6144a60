// Times as the sidebar writes them. Pure functions; `now` is a parameter so that tests can choose it.
#pragma once

#include <QDateTime>
#include <QString>

namespace tandem::ui {

// "now", "14:02", "yesterday", "Monday", "3 Feb", "3 Feb 2025".
QString whenText(const QDateTime& time, const QDateTime& now);

// The heading a conversation stands under: "Pinned", "Today", "Yesterday", "Previous 7 days",
// "Previous 30 days", "Older".
QString sectionFor(bool pinned, const QDateTime& time, const QDateTime& now);

// How long ago: "now", "40 s", "3 min", "2 h", "5 days".
QString ageText(double seconds);

}  // namespace tandem::ui
