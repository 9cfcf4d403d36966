#include "govern/blas.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace weir::govern {
namespace {

struct KnownBlas {
  std::string_view in_path;
  std::string_view name;
};

constexpr std::array kKnown = {
    KnownBlas{"openblas", "OpenBLAS"},
    KnownBlas{"mkl", "Intel MKL"},
    KnownBlas{"blis", "BLIS"},
    KnownBlas{"atlas", "ATLAS"},
};

/// The file that defines `symbol` for a lookup from the global scope; "" when none does.
std::string file_of_symbol(const char* symbol) {
  void* address = ::dlsym(RTLD_DEFAULT, symbol);
  Dl_info info{};
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code unresolved;
  const auto real = std::filesystem::canonical(info.dli_fname, unresolved);
  return unresolved ? std::string(info.dli_fname) : real.string();
}

/// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …" from OpenBLAS itself, when it is the one that answers.
std::string openblas_config(const std::string& file) {
  if (file_of_symbol("openblas_get_config") != file) return "";
  using GetConfig = char* (*)();
  const auto get = reinterpret_cast<GetConfig>(::dlsym(RTLD_DEFAULT, "openblas_get_config"));
  return get == nullptr ? "" : get();
}

}  // namespace

BlasIdentity blas_of_file(const std::string& file) {
  if (file.empty()) return {"none", false, ""};
  for (const KnownBlas& known : kKnown) {
    if (file.find(known.in_path) != std::string::npos) return {std::string(known.name), false, file};
  }
  return {"reference BLAS", true, file};
}

BlasIdentity blas_identity() {
  const std::string file = file_of_symbol("cblas_sgemm");
  const std::string config = file.empty() ? "" : openblas_config(file);
  return config.empty() ? blas_of_file(file) : BlasIdentity{config, false, file};
}

}  // namespace weir::govern
