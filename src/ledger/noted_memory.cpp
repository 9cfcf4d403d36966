#include "ledger/noted_memory.h"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <map>
#include <mutex>

#include "base/check.h"

namespace weir::ledger {
namespace {

constexpr std::uint64_t kForgotten = 0;

struct Note {
  std::string name;
  const void* address;  ///< null: `bytes` is what the caller measured
  std::int64_t bytes;
};

struct Notes {
  std::mutex mutex;
  std::uint64_t last_id = kForgotten;
  std::map<std::uint64_t, Note> by_id;
};

/// Never destroyed, on purpose: a NotedMemory may outlive every static object.
Notes& notes() {
  static auto* all = new Notes;
  return *all;
}

std::uint64_t add(Note note) {
  WEIR_CHECK_LE(0, note.bytes);
  Notes& all = notes();
  const std::lock_guard lock(all.mutex);
  all.by_id.emplace(++all.last_id, std::move(note));
  return all.last_id;
}

std::int64_t resident_bytes(const Note& note) {
  const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages(static_cast<std::size_t>((note.bytes + page - 1) / page));
  // A range that is no longer mapped answers ENOMEM: nothing there to count.
  if (::mincore(const_cast<void*>(note.address), static_cast<std::size_t>(note.bytes), pages.data()) != 0)
    return 0;
  return page *
         std::count_if(pages.begin(), pages.end(), [](unsigned char state) { return (state & 1u) != 0; });
}

}  // namespace

NotedMemory::NotedMemory(NotedMemory&& other) noexcept : id_(std::exchange(other.id_, kForgotten)) {}

NotedMemory::~NotedMemory() {
  if (id_ == kForgotten) return;
  const std::lock_guard lock(notes().mutex);
  notes().by_id.erase(id_);
}

NotedMemory note_own_mapping(std::string name, const void* address, std::int64_t bytes) {
  WEIR_CHECK(address != nullptr);
  return NotedMemory(add({std::move(name), address, bytes}));
}

NotedMemory note_own_bytes(std::string name, std::int64_t bytes) {
  return NotedMemory(add({std::move(name), nullptr, bytes}));
}

std::vector<IdentifiedPart> noted_parts() {
  std::vector<IdentifiedPart> parts;
  const std::lock_guard lock(notes().mutex);
  for (const auto& [id, note] : notes().by_id) {
    const std::int64_t bytes = note.address == nullptr ? note.bytes : resident_bytes(note);
    const auto same =
        std::find_if(parts.begin(), parts.end(),
                     [&name = note.name](const IdentifiedPart& part) { return part.name == name; });
    if (same != parts.end())
      same->bytes += bytes;
    else
      parts.push_back({note.name, bytes});
  }
  return parts;
}

}  // namespace weir::ledger
