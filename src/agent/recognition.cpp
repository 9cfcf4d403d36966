#include "agent/recognition.h"

#include <cxxabi.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "wire/memory_table.h"

namespace weir::agent {
namespace {

constexpr const char* kAllocator = WEIR_ALLOCATOR_SYMBOL;
constexpr const char* kRawPointer = WEIR_RAW_POINTER_SYMBOL;
#define WEIR_NAME(member, symbol) , symbol
constexpr std::array kInterposed = {kAllocator, kRawPointer WEIR_MEMORY_FUNCTIONS(WEIR_NAME)};
#undef WEIR_NAME
constexpr std::array kBackends = {"_ZN3mlx4core5metal12is_availableEv", "_ZN3mlx4core2cu12is_availableEv",
                                  "_ZN3mlx4core3gpu12is_availableEv"};
// Those whose allocator, buffers and memory functions were read and run; the class Allocator has one layout
// in all of them.
constexpr std::array kVersions = {"0.32.0", "0.32.1", "0.32.2", "0.32.3", "0.32.4"};
constexpr const char* kExpected = "; expected a CPU build of MLX 0.32.0 to 0.32.4";

template <class Function>
Function* function_named(const LoadedLibrary& library, const char* name) {
  return reinterpret_cast<Function*>(reinterpret_cast<std::uintptr_t>(library.symbol(name)));
}

bool is_known(const std::string& version) {
  return std::find(kVersions.begin(), kVersions.end(), version) != kVersions.end();
}

bool has_no_backend(const LoadedLibrary& library) {
  return std::all_of(kBackends.begin(), kBackends.end(), [&](const char* name) {
    auto* is_available = function_named<bool()>(library, name);
    return is_available != nullptr && !is_available();
  });
}

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return name ? name.get() : mangled;
}

}  // namespace

std::span<const char* const> interposed_functions() noexcept {
  return kInterposed;
}

LibraryFacts facts_of(const void* function) {
  LibraryFacts facts;
  const auto library = LoadedLibrary::holding(function);
  if (!library) {
    facts.missing = kAllocator;
    return facts;
  }
  if (auto* version = function_named<const char*()>(*library, "_ZN3mlx4core7versionEv"))
    facts.version = version();
  const auto missing = std::find_if(kInterposed.begin(), kInterposed.end(),
                                    [&](auto* name) { return !library->symbol(name); });
  if (missing != kInterposed.end()) facts.missing = *missing;
  // Of an unknown version not even these are called.
  facts.cpu_only = is_known(facts.version) && has_no_backend(*library);
  for (const char* name : {kRawPointer, kAllocator}) {
    if (!library->asks_linker_for(name)) facts.bound_inside = name;
  }
  return facts;
}

std::string objection(const LibraryFacts& facts) {
  const std::string version = facts.version.empty() ? "of no version" : "version " + facts.version;
  if (facts.missing != nullptr) return version + ", has no " + readable(facts.missing) + kExpected;
  if (!is_known(facts.version)) return version + kExpected;
  if (!facts.cpu_only) return version + ", has a GPU backend" + kExpected;
  if (facts.bound_inside != nullptr)
    return version + ", reaches its own " + readable(facts.bound_inside) + " without the dynamic linker" +
           kExpected;
  return "";
}

}  // namespace weir::agent
