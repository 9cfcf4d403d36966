#pragma once

#include <link.h>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir::agent {

/// What the dynamic linker mapped for one shared object, read in place: no lock of the linker is taken beyond
/// its list's, nothing is allocated, nothing is thrown. Valid while the object stays loaded.
class LoadedLibrary {
 public:
  /// The object whose mapped segments hold `address`; nullopt when none does, or it has no GNU hash table.
  [[nodiscard]] static std::optional<LoadedLibrary> holding(const void* address) noexcept;

  /// The address of what this object itself defines under `name`; nullptr when it defines nothing.
  [[nodiscard]] const void* symbol(const char* name) const noexcept;
  /// Whether its code reaches `name` by way of the dynamic linker, so that a definition that stands before
  /// its own in the search answers. False where the call was bound when the object was linked.
  [[nodiscard]] bool asks_linker_for(const char* name) const noexcept;

 private:
  LoadedLibrary() = default;
  void read_dynamic(const ElfW(Dyn) * entry) noexcept;
  [[nodiscard]] bool relocates(const ElfW(Rela) * first, std::size_t bytes, const char* name) const noexcept;

  ElfW(Addr) base_ = 0;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const std::uint32_t* hash_ = nullptr;
  const ElfW(Rela) * calls_ = nullptr;   ///< DT_JMPREL
  const ElfW(Rela) * others_ = nullptr;  ///< DT_RELA
  std::size_t calls_bytes_ = 0, others_bytes_ = 0;
};

}  // namespace weir::agent
