// Local time for templates, and how strftime_now writes it: Python's strftime for a time without a zone, in
// English whatever the locale of the process.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tandem::jinja {

struct CivilTime {
  int year = 1970;
  int month = 1;  // 1 to 12
  int day = 1;    // 1 to 31
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

using Clock = std::function<CivilTime()>;

// The machine's own clock in its own time zone.
CivilTime localTime();

// `format` with its % directives replaced; unknown ones stay as they are.
std::string formatTime(const CivilTime& time, std::string_view format);

}  // namespace tandem::jinja
