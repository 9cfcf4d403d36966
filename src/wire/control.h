#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/process_file_name.h"

namespace weir::wire {

/// Control of one governed process: a SOCK_SEQPACKET socket "RUN-PID.sock" beside its page, mode 0600, one
/// fixed record a message each way. Another length, magic or version, an unknown verb or flag is answered
/// kBadRequest where it can be answered, and the connection is closed. Host byte order.
inline constexpr std::uint32_t kControlMagic = 0x4c54'4357;  // "WCTL"
inline constexpr std::uint16_t kControlVersion = 1;
inline constexpr std::size_t kControlTextBytes = 192;
inline constexpr std::size_t kSampleParts = 48;
inline constexpr std::size_t kSampleNameBytes = 56;
/// A reading that is not known.
inline constexpr std::int64_t kUnknownBytes = INT64_MIN;

enum class Verb : std::uint16_t {
  kSample = 1,  ///< Reads only; stalls the process for tens of milliseconds.
  kSet,         ///< Limits, by the flags.
  kTrim,        ///< Drops what is retained.
  kReturn,      ///< Trim, then gives heap and driver memory back.
  kResetPeak,   ///< The page's peaks begin at what is held now.
  kNeed,        ///< A neighbour lacks `bytes`: gives back what is cheapest, by its own policy.
};

/// What `ControlRequest::flags` may hold, for kSet.
inline constexpr std::uint32_t kSetsCacheLimit = 1;    ///< `cache_limit` counts; kNoLimit is unlimited.
inline constexpr std::uint32_t kUnsetsCacheLimit = 2;  ///< Back to the allocator's own default.
inline constexpr std::uint32_t kSetsMemoryLimit = 4;   ///< `memory_limit` counts; kNoLimit is unlimited.

struct ControlRequest {
  std::uint32_t magic = kControlMagic;
  std::uint16_t version = kControlVersion;
  std::uint16_t verb = 0;  ///< Verb.
  std::uint32_t flags = 0;
  std::uint32_t pid = 0;          ///< Who is meant; another process refuses.
  std::uint64_t start_ticks = 0;  ///< Likewise.
  std::uint64_t cache_limit = 0, memory_limit = 0;
  std::uint64_t bytes = 0;         ///< Of kNeed.
  std::uint64_t reserved[2] = {};  ///< 0.
};
static_assert(sizeof(ControlRequest) == 64);

enum class ControlStatus : std::uint16_t {
  kDone = 0,
  kPending = 1,  ///< Will be done on the caller's thread at MLX's next call.
  kRefused = 2,  ///< Not by this allocator or backend, or another process was meant; `text` says why.
  kBadRequest = 3,
  kBusy = 4,    ///< Too many connections, or another verb runs too long.
  kFailed = 5,  ///< Tried, and the world said no; `text` says what.
};

struct SamplePart {
  char name[kSampleNameBytes];  ///< Ended by a zero.
  std::int64_t bytes;
};

/// The ledger of the process as it reads itself (ledger::Layers as a fixed record).
struct SampleRecord {
  std::int64_t footprint, live, retained, untouched, heap_idle, identified, unexplained;
  std::int64_t file, resident, swap, overdraw, weights_file;
  std::int64_t seconds_ns;               ///< How long the reading took.
  std::uint32_t tags, identified_parts;  ///< In use of `parts`: tags first.
  SamplePart parts[kSampleParts];
};

struct ControlReply {
  std::uint32_t magic = kControlMagic;
  std::uint16_t version = kControlVersion;
  std::uint16_t status = 0;      ///< ControlStatus.
  std::uint16_t verb = 0;        ///< Of the request.
  std::uint16_t has_sample = 0;  ///< 1: `sample` counts.
  std::uint32_t reserved = 0;
  std::uint64_t released = 0;                       ///< By the pool to the kernel.
  std::uint64_t heap_released = 0;                  ///< By the C heap.
  std::uint64_t driver_released = 0;                ///< By the driver's pools.
  std::uint64_t driver_kept = 0;                    ///< What they keep all the same.
  std::uint64_t cache_limit = 0, memory_limit = 0;  ///< In force after it.
  char text[kControlTextBytes] = {};                ///< Words for a person, ended by a zero.
  SampleRecord sample = {};
};
static_assert(sizeof(ControlReply) < 4096);

/// Room for "RUN-PID.sock" with its zero.
inline constexpr std::size_t kSocketNameBytes = kProcessFileNameBytes;
std::size_t print_socket_name(std::uint64_t run, std::uint32_t pid, char (&name)[kSocketNameBytes]) noexcept;
/// False for anything but the exact form above; then nothing is written. Any bytes.
[[nodiscard]] bool parse_socket_name(const char* name, std::uint64_t& run, std::uint32_t& pid) noexcept;

/// Takes a message apart. False, and `into` untouched, for anything that is no request of this version with
/// a known verb, the flags that the verb allows (a set that sets nothing is none), and zeros where reserved
/// or where verb and flags give a field no meaning. Any bytes; no heap.
[[nodiscard]] bool parse_control_request(const void* bytes, std::size_t length,
                                         ControlRequest& into) noexcept;
/// The same for a reply; when it is true names and text end in a zero, counts of parts fit, and every size is
/// below 2^57, so that no sum of them overflows.
[[nodiscard]] bool parse_control_reply(const void* bytes, std::size_t length, ControlReply& into) noexcept;

/// "sample", "set", "trim", "return", "reset-peak", "need".
[[nodiscard]] const char* verb_name(Verb verb) noexcept;

}  // namespace weir::wire
