#include "govern/mlx_functions.h"

#include <dlfcn.h>
#include <link.h>
#include <string_view>

namespace weir::govern {

namespace {

constexpr std::string_view kFileName = "/libmlx.so";

int note_libmlx(dl_phdr_info* info, std::size_t, void* path) {
  const std::string_view name = info->dlpi_name;
  if (!name.ends_with(kFileName)) return 0;
  *static_cast<std::string*>(path) = name;
  return 1;
}

/// One symbol of the library itself; `missing` names the first that it lacks.
class Lookup {
 public:
  explicit Lookup(void* library) : library_(library) {}
  template <class Function>
  void operator()(Function*& into, const char* symbol) {
    into = reinterpret_cast<Function*>(::dlsym(library_, symbol));
    if (into == nullptr && missing_ == nullptr) missing_ = symbol;
  }
  [[nodiscard]] const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

}  // namespace

Result<MlxFunctions> MlxFunctions::find() {
  MlxFunctions found;
  ::dl_iterate_phdr(note_libmlx, &found.library);
  void* const library =
      found.library.empty() ? nullptr : ::dlopen(found.library.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return fail(ErrorKind::kEnvironment, "libmlx.so", "is not loaded in this process");
  Lookup look(library);
  weir_memory_table& table = found.table;
  table.version = WEIR_MEMORY_TABLE_VERSION;
  table.raw_offset = sizeof(std::size_t);
  look(table.allocator, WEIR_ALLOCATOR_SYMBOL);
#define WEIR_LOOK(member, symbol) look(table.member, symbol);
  WEIR_MEMORY_FUNCTIONS(WEIR_LOOK)
#undef WEIR_LOOK
  if (look.missing() != nullptr)
    return fail(ErrorKind::kEnvironment, found.library, std::string("lacks ") + look.missing());
  return found;
}

}  // namespace weir::govern
