// SPDX-License-Identifier: Apache-2.0
// Errors as values: what went wrong, where, and what to do about it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace clrscope {

// What kind of failure this is. The command line maps each to one exit code.
enum class ErrorCode : uint8_t {
  kFailed,      // anything without a kind of its own
  kUsage,       // the caller asked for something that makes no sense
  kEmpty,       // nothing matched
  kNotFound,    // no such process, file or table
  kNotDotnet,   // the process exists but has no .NET runtime that listens
  kPermission,  // the system refused
  kRefused,     // the runtime refused (another profiler, unsupported command)
  kCorrupt,     // input that contradicts its format
  kTruncated,   // input that ends too early
  kTimeout,     // a peer did not answer in time
  kIo,          // reading or writing failed
};

struct [[nodiscard]] Error {
  static constexpr uint64_t kNoOffset = ~uint64_t{0};

  ErrorCode code = ErrorCode::kFailed;
  std::string message;          // one sentence: what, where, what to do
  uint64_t offset = kNoOffset;  // byte offset in the input, when there is one

  static Error At(ErrorCode code, uint64_t offset, std::string message) {
    return Error{code, std::move(message), offset};
  }
};

struct Ok {};

// A value or an Error; the subset of std::expected that this project uses.
template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that a value or an error is returned as it is.
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return *Checked(); }
  const T& value() const { return *const_cast<Result*>(this)->Checked(); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }
  Error& error() { return std::get<1>(state_); }
  T Take() { return std::move(value()); }

 private:
  T* Checked() {
    if (!ok()) std::abort();
    return &std::get<0>(state_);
  }
  std::variant<T, Error> state_;
};

using Status = Result<Ok>;
inline Status OkStatus() { return Ok{}; }

}  // namespace clrscope

#define CLRSCOPE_CONCAT_INNER(a, b) a##b
#define CLRSCOPE_CONCAT(a, b) CLRSCOPE_CONCAT_INNER(a, b)
// Returns the error of a Result-like expression from the enclosing function.
#define RETURN_IF_ERROR(expr)                                             \
  do {                                                                    \
    auto clrscope_status = (expr);                                        \
    if (!clrscope_status.ok()) return std::move(clrscope_status.error()); \
  } while (0)
// Declares `lhs` from a Result, or returns its error from the enclosing function.
#define ASSIGN_OR_RETURN(lhs, expr)                                        \
  auto CLRSCOPE_CONCAT(clrscope_result_, __LINE__) = (expr);               \
  if (!CLRSCOPE_CONCAT(clrscope_result_, __LINE__).ok())                   \
    return std::move(CLRSCOPE_CONCAT(clrscope_result_, __LINE__).error()); \
  lhs = CLRSCOPE_CONCAT(clrscope_result_, __LINE__).Take()
// A broken invariant of our own: never input, never the world.
#define CHECK(cond)            \
  do {                         \
    if (!(cond)) std::abort(); \
  } while (0)
