/// MLX's eleven memory symbols for an executable: its own definitions go before libmlx's and a preloaded
/// agent's. An object, never an archive's member: libmlx defines them already, so a linker would drop it.

#include <mlx/allocator.h>
#include <mlx/memory.h>

#include "govern/mlx_functions.h"
#include "govern/own_process.h"
#include "govern/process_governor.h"

namespace weir::govern {

namespace {

struct Answers {
  const weir_memory_table* table;
};

/// Leaked, with MLX's functions that it points to.
const Answers& begin_answering() {
  const auto* const real = new MlxFunctions(value_or_throw(MlxFunctions::find()));
  const OwnStart own = take_own_start();
  Start start;
  start.settings = own.settings;
  start.real = &real->table;
  start.library = real->library.c_str();
  start.pages_folder = own.pages_folder.c_str();
  return *new Answers{govern_process(start)};
}

const Answers& answers() {
  static const Answers& begun = begin_answering();
  return begun;
}

}  // namespace

}  // namespace weir::govern

namespace mlx::core {

namespace allocator {

Allocator& allocator() {
  return *static_cast<Allocator*>(weir::govern::answers().table->allocator());
}

void* Buffer::raw_ptr() {
  return ptr_ == nullptr ? nullptr : static_cast<char*>(ptr_) + weir::govern::answers().table->raw_offset;
}

}  // namespace allocator

std::size_t get_active_memory() {
  return weir::govern::answers().table->get_active_memory();
}
std::size_t get_peak_memory() {
  return weir::govern::answers().table->get_peak_memory();
}
void reset_peak_memory() {
  weir::govern::answers().table->reset_peak_memory();
}
std::size_t get_cache_memory() {
  return weir::govern::answers().table->get_cache_memory();
}
std::size_t set_memory_limit(std::size_t limit) {
  return weir::govern::answers().table->set_memory_limit(limit);
}
std::size_t get_memory_limit() {
  return weir::govern::answers().table->get_memory_limit();
}
std::size_t set_cache_limit(std::size_t limit) {
  return weir::govern::answers().table->set_cache_limit(limit);
}
void clear_cache() {
  weir::govern::answers().table->clear_cache();
}
std::size_t set_wired_limit(std::size_t limit) {
  return weir::govern::answers().table->set_wired_limit(limit);
}

}  // namespace mlx::core
