#include "engine/constraint/formats.h"

#include <algorithm>
#include <iterator>

namespace tandem::constraint {
namespace {

// A date of the Gregorian calendar from the year 1 on; 29 February in leap years only.
const std::string kDate =
    "(?:(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-"
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|"
    "02-(?:0[1-9]|1[0-9]|2[0-8]))|"
    "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29)";
const std::string kTime =
    "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";
const std::string kLabel = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
const std::string kByte = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const std::string kIpv4 = kByte + "(?:\\." + kByte + "){3}";

std::string ipv6() {
  const std::string h = "[0-9a-fA-F]{1,4}";
  std::string regex = "(?:" + h + ":){7}" + h;
  // n groups, ::, at most 6 - n groups.
  for (int n = 0; n <= 6; ++n) {
    const std::string before = n == 0 ? "" : h + "(?::" + h + "){" + std::to_string(n - 1) + "}";
    const std::string after = n == 6 ? "" : "(?:" + h + "(?::" + h + "){0," + std::to_string(5 - n) + "})?";
    regex += "|" + before + "::" + after;
  }
  return regex + "|(?:" + h + ":){7}:";
}

struct Format {
  std::string name;
  std::string regex;
};

const Format* formats(std::size_t& count) {
  static const Format kFormats[] = {
      {"date", kDate},
      {"time", kTime},
      {"date-time", kDate + "T" + kTime},
      {"duration",
       "P(?:[0-9]{1,9}W|(?:[0-9]{1,9}Y(?:[0-9]{1,9}M(?:[0-9]{1,9}D)?)?|[0-9]{1,9}M(?:[0-9]{1,9}D)?|[0-9]{1,9}"
       "D)"
       "(?:T(?:[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,9}S)?|[0-9]{1,9}S))?|"
       "T(?:[0-9]{1,9}H(?:[0-9]{1,9}M(?:[0-9]{1,9}S)?)?|[0-9]{1,9}M(?:[0-9]{1,9}S)?|[0-9]{1,9}S))"},
      {"uuid", "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"},
      {"email", "[a-zA-Z0-9_+-]{1,32}(?:\\.[a-zA-Z0-9_+-]{1,31})?@" + kLabel + "(?:\\." + kLabel + "){1,3}"},
      {"hostname", kLabel + "(?:\\." + kLabel + "){0,3}"},
      {"ipv4", kIpv4},
      {"ipv6", ipv6()},
      {"uri",
       "[a-z][a-z0-9+-]{0,15}://[a-zA-Z0-9-]{1,63}(?:\\.[a-zA-Z0-9-]{1,63})*(?::[0-9]{1,5})?"
       "(?:/(?:[a-zA-Z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})*)*"
       "(?:\\?(?:[a-zA-Z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-fA-F]{2})*)?"
       "(?:#(?:[a-zA-Z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-fA-F]{2})*)?"},
      {"json-pointer", "(?:/(?:[^~/]|~[01])*)*"},
  };
  count = std::size(kFormats);
  return kFormats;
}

constexpr std::string_view kNotHandled[] = {
    "idn-email",     "idn-hostname", "uri-reference",         "iri",
    "iri-reference", "uri-template", "relative-json-pointer", "regex"};

}  // namespace

FormatKind findFormat(std::string_view name, std::string& regex) {
  std::size_t count = 0;
  const Format* all = formats(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i].name != name) continue;
    regex = all[i].regex;
    return FormatKind::kEnforced;
  }
  const bool defined =
      std::find(std::begin(kNotHandled), std::end(kNotHandled), name) != std::end(kNotHandled);
  return defined ? FormatKind::kNotHandled : FormatKind::kUnknown;
}

}  // namespace tandem::constraint
