#include "app/places/places.h"

#include <cstdlib>
#include <string>
#include <system_error>

namespace tandem {
namespace fs = std::filesystem;
namespace {

std::optional<fs::path> environmentPath(const char* variable) {
  const char* value = std::getenv(variable);
  // The specification asks to ignore relative paths in these variables.
  if (value == nullptr || value[0] != '/') {
    return std::nullopt;
  }
  return fs::path(value);
}

std::optional<fs::path> baseDirectory(const char* variable, const char* belowHome) {
  if (const auto set = environmentPath(variable)) {
    return *set / "tandem";
  }
  if (const auto home = environmentPath("HOME")) {
    return *home / belowHome / "tandem";
  }
  return std::nullopt;
}

}  // namespace

Result<Places> findPlaces(const std::optional<fs::path>& home) {
  if (home) {
    std::error_code error;
    const fs::path root = fs::absolute(*home, error);
    if (error || home->empty()) {
      return Error{ErrorCode::kInvalidArgument,
                   "The folder given by --home is not a usable path: \"" + home->string() + "\".", "home"};
    }
    return Places{root / "config", root / "data", root / "cache", root / "state"};
  }
  const auto config = baseDirectory("XDG_CONFIG_HOME", ".config");
  const auto data = baseDirectory("XDG_DATA_HOME", ".local/share");
  const auto cache = baseDirectory("XDG_CACHE_HOME", ".cache");
  const auto state = baseDirectory("XDG_STATE_HOME", ".local/state");
  if (!config || !data || !cache || !state) {
    return Error{ErrorCode::kNotFound,
                 "Neither HOME nor the XDG variables are set; say where to keep files with --home DIR."};
  }
  return Places{*config, *data, *cache, *state};
}

Status makePlaces(const Places& places) {
  for (const fs::path& folder : {places.config, places.data, places.cache, places.state, places.models()}) {
    std::error_code error;
    const bool made = fs::create_directories(folder, error);
    if (error || !fs::is_directory(folder, error)) {
      return Error{ErrorCode::kIo, "The folder " + folder.string() + " could not be made" +
                                       (error ? ": " + error.message() : std::string()) +
                                       ". Check the permissions, or choose another place with --home DIR."};
    }
    if (made) {
      fs::permissions(folder, fs::perms::owner_all, error);
    }
  }
  return {};
}

}  // namespace tandem
