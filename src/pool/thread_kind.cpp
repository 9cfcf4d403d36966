#include "pool/thread_kind.h"

#include <link.h>
#include <unwind.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace weir::pool {
namespace {

constexpr int kMostFrames = 1'000'000;  // Python recurses deep
constexpr std::size_t kOutermost = 16;

/// The last frames of a walk, which are the outermost.
struct Walk {
  std::array<std::uintptr_t, kOutermost> frames{};
  std::size_t count = 0;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  if (walk.count == kMostFrames) return _URC_END_OF_STACK;
  walk.frames[walk.count++ % kOutermost] = _Unwind_GetIP(context);
  return _URC_NO_REASON;
}

enum class Owner { kNone, kRuntime, kMlx, kHost };

struct Lookup {
  std::uintptr_t address;
  Owner owner = Owner::kNone;
};

/// The C and C++ runtimes start threads and programs; sanitizers wrap that.
bool is_runtime(const char* name) noexcept {
  for (const char* const part : {"libc.so", "libc-", "libpthread", "libstdc++", "libc++", "ld-linux",
                                 "ld-musl", "libasan", "libtsan", "libubsan", "liblsan"})
    if (std::strncmp(name, part, std::strlen(part)) == 0) return true;
  return false;
}

int find_owner(dl_phdr_info* object, std::size_t, void* argument) {
  auto& lookup = *static_cast<Lookup*>(argument);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    const std::uintptr_t start = object->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || lookup.address < start || lookup.address >= start + part.p_memsz) continue;
    const char* const slash = std::strrchr(object->dlpi_name, '/');
    const char* const name = slash == nullptr ? object->dlpi_name : slash + 1;
    lookup.owner = std::strstr(name, "libmlx") != nullptr ? Owner::kMlx
                   : is_runtime(name)                     ? Owner::kRuntime
                                                          : Owner::kHost;
    return 1;
  }
  return 0;
}

Owner owner_of(std::uintptr_t address) noexcept {
  Lookup lookup{address};
  dl_iterate_phdr(find_owner, &lookup);
  return lookup.owner;
}

/// From the outermost frame inwards: the runtime's frames first, then the one that decides. A whole stack
/// ends in the runtime (start of a thread) or in _start, which only the runtime's frames can be inside of;
/// any other end was cut short and decides nothing.
ThreadKind kind_of(const Walk& walk) noexcept {
  const std::size_t kept = std::min(walk.count, kOutermost);
  bool whole = false;
  for (std::size_t i = 0; i < kept; ++i) {
    const std::uintptr_t frame = walk.frames[(walk.count - 1 - i) % kOutermost];
    if (frame == 0) continue;                 // the end that the runtime marks
    const Owner owner = owner_of(frame - 1);  // a return address may stand behind its function's last byte
    if (owner == Owner::kRuntime) {
      whole = true;
    } else if (owner == Owner::kHost && whole) {
      return ThreadKind::kCaller;
    } else if (owner != Owner::kHost || i > 1) {
      return ThreadKind::kWorker;
    }
  }
  return ThreadKind::kWorker;
}

ThreadKind walk_stack() noexcept {
  Walk walk;
  _Unwind_Backtrace(note_frame, &walk);
  return walk.count == 0 || walk.count == kMostFrames ? ThreadKind::kWorker : kind_of(walk);
}

thread_local std::optional<ThreadKind> t_kind;

}  // namespace

ThreadKind this_thread_kind() noexcept {
  if (!t_kind) t_kind = walk_stack();
  return *t_kind;
}

void set_this_thread_kind(ThreadKind kind) noexcept {
  t_kind = kind;
}

}  // namespace weir::pool
