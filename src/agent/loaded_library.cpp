#include "agent/loaded_library.h"

#include <cstring>

namespace weir::agent {
namespace {

struct Search {
  ElfW(Addr) address;
  ElfW(Addr) base = 0;
  const ElfW(Dyn) * dynamic = nullptr;
};

int look_into(dl_phdr_info* object, std::size_t, void* into) {
  auto& search = *static_cast<Search*>(into);
  const ElfW(Dyn)* dynamic = nullptr;
  bool holds = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    const ElfW(Addr) start = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(start);
    if (segment.p_type == PT_LOAD && search.address - start < segment.p_memsz) holds = true;
  }
  if (!holds) return 0;
  search.base = object->dlpi_addr;
  search.dynamic = dynamic;
  return 1;
}

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name)
    hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

}  // namespace

std::optional<LoadedLibrary> LoadedLibrary::holding(const void* address) noexcept {
  Search search{reinterpret_cast<ElfW(Addr)>(address)};
  if (::dl_iterate_phdr(look_into, &search) == 0 || search.dynamic == nullptr) return std::nullopt;
  LoadedLibrary library;
  library.base_ = search.base;
  library.read_dynamic(search.dynamic);
  if (library.symbols_ == nullptr || library.names_ == nullptr || library.hash_ == nullptr)
    return std::nullopt;
  return library;
}

void LoadedLibrary::read_dynamic(const ElfW(Dyn) * entry) noexcept {
  for (; entry->d_tag != DT_NULL; ++entry) {
    // glibc has added the base to these already; other linkers have not.
    const ElfW(Addr) address = entry->d_un.d_ptr < base_ ? entry->d_un.d_ptr + base_ : entry->d_un.d_ptr;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        names_ = reinterpret_cast<const char*>(address);
        break;
      case DT_GNU_HASH:
        hash_ = reinterpret_cast<const std::uint32_t*>(address);
        break;
      case DT_JMPREL:
        calls_ = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        calls_bytes_ = entry->d_un.d_val;
        break;
      case DT_RELA:
        others_ = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        others_bytes_ = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
}

// The table: bucket count, first hashed symbol, filter words, filter shift; filter; buckets; chains, one word
// a symbol, whose lowest bit ends a bucket.
const void* LoadedLibrary::symbol(const char* name) const noexcept {
  const std::uint32_t bucket_count = hash_[0], first = hash_[1], filter_words = hash_[2];
  if (bucket_count == 0) return nullptr;
  const auto* buckets = hash_ + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const auto* chains = buckets + bucket_count;
  const std::uint32_t hash = gnu_hash(name);
  std::uint32_t index = buckets[hash % bucket_count];
  if (index < first) return nullptr;
  for (;; ++index) {
    const std::uint32_t chain = chains[index - first];
    const auto& symbol = symbols_[index];
    if ((chain | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
        std::strcmp(names_ + symbol.st_name, name) == 0)
      return reinterpret_cast<const void*>(base_ + symbol.st_value);
    if ((chain & 1) != 0) return nullptr;
  }
}

bool LoadedLibrary::relocates(const ElfW(Rela) * first, std::size_t bytes, const char* name) const noexcept {
  for (const auto* entry = first; entry < first + bytes / sizeof *first; ++entry) {
    const auto index = ELF64_R_SYM(entry->r_info);
    if (index != 0 && std::strcmp(names_ + symbols_[index].st_name, name) == 0) return true;
  }
  return false;
}

bool LoadedLibrary::asks_linker_for(const char* name) const noexcept {
  return (calls_ != nullptr && relocates(calls_, calls_bytes_, name)) ||
         (others_ != nullptr && relocates(others_, others_bytes_, name));
}

}  // namespace weir::agent
