#pragma once

#include <cerrno>

namespace weir::wire {

/// The host's errno outlives what weir does in its process.
class KeptErrno {
 public:
  KeptErrno() noexcept : saved_(errno) {}
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;
  ~KeptErrno() { errno = saved_; }

 private:
  int saved_;
};

}  // namespace weir::wire
