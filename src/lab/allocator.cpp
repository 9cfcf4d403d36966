#include "lab/allocator.h"

#include "wire/agent_settings.h"

namespace weir::lab {

std::string allocator_name(Allocator allocator) {
  return wire::allocator_name(allocator);
}

std::optional<Allocator> allocator_from_name(std::string_view name) {
  Allocator found{};
  if (!wire::allocator_of_name(name.data(), name.size(), found)) return std::nullopt;
  return found;
}

}  // namespace weir::lab
