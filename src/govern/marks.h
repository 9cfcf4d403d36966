#pragma once

#include <cstdint>

#include "wire/counters_page.h"

namespace weir::govern {

/// What this process does, for its counters page: weir's own runner says so, and what weir does at boundaries
/// goes by it. Each mark stands by itself, outside of the page's sequences. From any thread, at the cost of a
/// store; nothing happens where no page is.
void mark_phase(wire::Phase phase) noexcept;
/// `count` more tokens were drawn.
void mark_tokens(std::uint64_t count = 1) noexcept;
/// One more request has ended, however it did.
void mark_request_end() noexcept;

/// Marks a phase while it lives, then kIdle.
class PhaseMark {
 public:
  explicit PhaseMark(wire::Phase phase) noexcept { mark_phase(phase); }
  PhaseMark(const PhaseMark&) = delete;
  PhaseMark& operator=(const PhaseMark&) = delete;
  ~PhaseMark() { mark_phase(wire::Phase::kIdle); }
};

/// Marks the end of a request when it goes.
class RequestMark {
 public:
  RequestMark() = default;
  RequestMark(const RequestMark&) = delete;
  RequestMark& operator=(const RequestMark&) = delete;
  ~RequestMark() { mark_request_end(); }
};

}  // namespace weir::govern
