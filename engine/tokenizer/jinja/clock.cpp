#include "engine/tokenizer/jinja/clock.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

namespace tandem::jinja {
namespace {

constexpr std::array kDays = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::array kMonths = {"January", "February", "March",     "April",   "May",      "June",
                                "July",    "August",   "September", "October", "November", "December"};

std::chrono::sys_days days(const CivilTime& t) {
  return std::chrono::year(t.year) / t.month / std::chrono::day(static_cast<unsigned>(t.day));
}

int dayOfWeek(const CivilTime& t) {  // 0 is Sunday
  return static_cast<int>(std::chrono::weekday(days(t)).c_encoding());
}

int dayOfYear(const CivilTime& t) {  // 0 is 1 January
  CivilTime first = t;
  first.month = first.day = 1;
  return static_cast<int>((days(t) - days(first)).count());
}

// ISO 8601: the week belongs to the year that its Thursday is in.
struct IsoWeek {
  int year;
  int week;
};
IsoWeek isoWeek(const CivilTime& t) {
  const int fromMonday = (dayOfWeek(t) + 6) % 7;
  const std::chrono::year_month_day thursday(days(t) + std::chrono::days(3 - fromMonday));
  const int year = static_cast<int>(thursday.year());
  const auto first = std::chrono::sys_days(std::chrono::year(year) / 1 / 1);
  return {year, static_cast<int>((std::chrono::sys_days(thursday) - first).count()) / 7 + 1};
}

std::string padded(int value, std::size_t width, char pad, char flag) {
  std::string digits = std::to_string(value);
  if (flag == '-') return digits;
  if (flag == '_') pad = ' ';
  if (flag == '0') pad = '0';
  if (digits.size() < width) digits.insert(0, width - digits.size(), pad);
  return digits;
}

std::string shortName(const char* name) {
  return std::string(name).substr(0, 3);
}

std::string upperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

// The parts that are numbers; false when `directive` is none of them.
bool numberOf(const CivilTime& t, char directive, char flag, std::string& out) {
  const int hour12 = t.hour % 12 == 0 ? 12 : t.hour % 12;
  const auto put = [&](int value, std::size_t width, char pad = '0') {
    out += padded(value, width, pad, flag);
    return true;
  };
  switch (directive) {
    case 'C':
      return put(t.year / 100, 2);
    case 'd':
      return put(t.day, 2);
    case 'e':
      return put(t.day, 2, ' ');
    case 'f':
      return put(t.microsecond, 6);
    case 'G':
      return put(isoWeek(t).year, 4);
    case 'g':
      return put(isoWeek(t).year % 100, 2);
    case 'H':
      return put(t.hour, 2);
    case 'I':
      return put(hour12, 2);
    case 'j':
      return put(dayOfYear(t) + 1, 3);
    case 'k':
      return put(t.hour, 2, ' ');
    case 'l':
      return put(hour12, 2, ' ');
    case 'M':
      return put(t.minute, 2);
    case 'm':
      return put(t.month, 2);
    case 'S':
      return put(t.second, 2);
    case 'U':
      return put((dayOfYear(t) + 7 - dayOfWeek(t)) / 7, 2);
    case 'u':
      return put(dayOfWeek(t) == 0 ? 7 : dayOfWeek(t), 1);
    case 'V':
      return put(isoWeek(t).week, 2);
    case 'W':
      return put((dayOfYear(t) + 7 - (dayOfWeek(t) + 6) % 7) / 7, 2);
    case 'w':
      return put(dayOfWeek(t), 1);
    case 'Y':
      return put(t.year, 1);
    case 'y':
      return put(t.year % 100, 2);
    default:
      return false;
  }
}

// The parts that are words or stand for a longer format; false when `directive` is none of them.
bool wordOf(const CivilTime& t, char directive, char flag, std::string& out) {
  const auto put = [&](std::string text) {
    out += flag == '^' ? upperCase(std::move(text)) : std::move(text);
    return true;
  };
  switch (directive) {
    case 'A':
      return put(kDays[static_cast<std::size_t>(dayOfWeek(t))]);
    case 'a':
      return put(shortName(kDays[static_cast<std::size_t>(dayOfWeek(t))]));
    case 'B':
      return put(kMonths[static_cast<std::size_t>(t.month - 1)]);
    case 'b':
    case 'h':
      return put(shortName(kMonths[static_cast<std::size_t>(t.month - 1)]));
    case 'c':
      return put(formatTime(t, "%a %b %e %H:%M:%S %Y"));
    case 'D':
    case 'x':
      return put(formatTime(t, "%m/%d/%y"));
    case 'F':
      return put(formatTime(t, "%Y-%m-%d"));
    case 'n':
      return put("\n");
    case 'P':
      return put(t.hour < 12 ? "am" : "pm");
    case 'p':
      return put(t.hour < 12 ? "AM" : "PM");
    case 'R':
      return put(formatTime(t, "%H:%M"));
    case 'r':
      return put(formatTime(t, "%I:%M:%S %p"));
    case 'T':
    case 'X':
      return put(formatTime(t, "%H:%M:%S"));
    case 't':
      return put("\t");
    case 'Z':
    case 'z':
      return true;  // a time without a zone has neither name nor offset
    case '%':
      return put("%");
    default:
      return false;
  }
}

}  // namespace

CivilTime localTime() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return {
      parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, 0};
}

std::string formatTime(const CivilTime& time, std::string_view format) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    const std::size_t start = i++;
    const bool hasFlag =
        std::string_view("-_0^").find(format[i]) != std::string_view::npos && i + 1 < format.size();
    const char flag = hasFlag ? format[i++] : '\0';
    if (!numberOf(time, format[i], flag, out) && !wordOf(time, format[i], flag, out)) {
      out += format.substr(start, i - start + 1);
    }
  }
  return out;
}

}  // namespace tandem::jinja
