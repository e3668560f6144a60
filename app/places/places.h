// Where the program keeps things on disk: the XDG base directories, or one folder given by `--home`. Shared
// by the window and the command line; knows no Qt. Plain functions, callable from any thread.
#pragma once

#include <filesystem>
#include <optional>

#include "engine/base/status.h"

namespace tandem {

// Folders, each made on demand by makePlaces(). With --home DIR they are DIR/config, DIR/data, DIR/cache and
// DIR/state, so that two homes never meet; otherwise $XDG_CONFIG_HOME/tandem and so on, with the defaults of
// the XDG base directory specification below $HOME.
struct Places {
  std::filesystem::path config;  // settings.ini
  std::filesystem::path data;    // tandem.db, models/
  std::filesystem::path cache;   // what can be made again
  std::filesystem::path state;   // logs, the window's geometry

  std::filesystem::path database() const { return data / "tandem.db"; }
  std::filesystem::path weights() const { return cache / "weights"; }  // docs/model-loading.md
  std::filesystem::path texts() const { return cache / "texts"; }      // docs/cache-format.md
  std::filesystem::path models() const { return data / "models"; }
  std::filesystem::path settingsFile() const { return config / "settings.ini"; }
  std::filesystem::path logFile() const { return state / "tandem.log"; }
};

// Resolves the folders without touching the disk. A relative `home` is taken from the working directory.
// Fails with kNotFound when neither `home` nor HOME nor the XDG variables say where to go.
Result<Places> findPlaces(const std::optional<std::filesystem::path>& home);

// Makes the folders (and models/), readable by their owner only. Fails with kIo and a sentence that names the
// folder that could not be made.
Status makePlaces(const Places& places);

}  // namespace tandem
