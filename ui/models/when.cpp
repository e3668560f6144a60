#include "ui/models/when.h"

#include <QCoreApplication>
#include <QLocale>

namespace tandem::ui {
namespace {

QString say(const char* text) {
  return QCoreApplication::translate("When", text);
}

}  // namespace

QString whenText(const QDateTime& time, const QDateTime& now) {
  const QLocale locale;
  const qint64 days = time.date().daysTo(now.date());
  if (time.secsTo(now) < 60 && time <= now.addSecs(60)) {
    return say("now");
  }
  if (days <= 0) {
    return locale.toString(time.time(), QStringLiteral("HH:mm"));
  }
  if (days == 1) {
    return say("yesterday");
  }
  if (days < 7) {
    return locale.dayName(time.date().dayOfWeek(), QLocale::LongFormat);
  }
  return locale.toString(time.date(), time.date().year() == now.date().year() ? QStringLiteral("d MMM")
                                                                              : QStringLiteral("d MMM yyyy"));
}

QString ageText(double seconds) {
  const qint64 whole = seconds < 0 ? 0 : static_cast<qint64>(seconds);
  if (whole < 2) return say("now");
  if (whole < 60) return say("%1 s").arg(whole);
  if (whole < 60 * 60) return say("%1 min").arg(whole / 60);
  if (whole < 24 * 60 * 60) return say("%1 h").arg(whole / (60 * 60));
  const qint64 days = whole / (24 * 60 * 60);
  return days == 1 ? say("1 day") : say("%1 days").arg(days);
}

QString sectionFor(bool pinned, const QDateTime& time, const QDateTime& now) {
  if (pinned) {
    return say("Pinned");
  }
  const qint64 days = time.date().daysTo(now.date());
  if (days <= 0) {
    return say("Today");
  }
  if (days == 1) {
    return say("Yesterday");
  }
  if (days < 7) {
    return say("Previous 7 days");
  }
  return days < 30 ? say("Previous 30 days") : say("Older");
}

}  // namespace tandem::ui
