// Status and Result: how the engine, the storage and the service report what the world can break.
//
// Every failure a person can meet (files, model contents, templates, requests, memory) is an Error with one
// plain sentence; what only our own code can break is asserted. No exception crosses a module's public
// functions.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tandem {

enum class ErrorCode {
  kInvalidArgument,  // a request or option that can never work
  kCorruptFile,      // a file whose contents contradict themselves or end early
  kUnsupported,      // well-formed, but not something this program can run
  kNotFound,
  kIo,  // open, read, write, map, lock
  kOutOfMemory,
  kCancelled,              // the caller asked for it
  kContextLengthExceeded,  // the prompt does not fit
  kBudgetExceeded,         // a step, output or size budget ran out
  kNonFinite,              // an activation or logit was NaN or infinite
  kTemplate,               // the chat template is wrong or raised its own message
  kBusy,
  kInternal,
};

// Returns the stable, lower-case name used in JSON ("corrupt_file", "context_length_exceeded", ...).
const char* errorCodeName(ErrorCode code);

// What went wrong, for a person: `message` is a whole sentence that says what, where and what to do.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string field = {};                    // the metadata key, tensor, option or column concerned, or empty
  std::optional<std::uint64_t> offset = {};  // byte offset in the file concerned, when there is one

  // The message followed by field and offset where they are known: "… (field x, byte 24)".
  std::string describe() const;
};

// Success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error)
      : error_(std::move(error)) {}  // NOLINT: implicit on purpose, so that `return Error{…}` works

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  // REQUIRES: !ok()
  const Error& error() const {
    assert(error_);
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

// A value, or the Error that kept it from being made.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : data_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : data_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool ok() const { return data_.index() == 0; }
  explicit operator bool() const { return ok(); }
  // REQUIRES: ok()
  T& value() & { return std::get<0>(data_); }
  const T& value() const& { return std::get<0>(data_); }
  T&& value() && { return std::get<0>(std::move(data_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  // REQUIRES: !ok()
  const Error& error() const { return std::get<1>(data_); }
  Status status() const { return ok() ? Status() : Status(error()); }

 private:
  std::variant<T, Error> data_;
};

}  // namespace tandem
