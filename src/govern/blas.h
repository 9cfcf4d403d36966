#pragma once

#include <string>

namespace weir::govern {

/// Which library answers MLX's matrix products in this process.
struct BlasIdentity {
  std::string name;        ///< "OpenBLAS 0.3.21 (pthread)", "reference BLAS", "none".
  bool reference = false;  ///< Unoptimised: some fifty times slower than OpenBLAS.
  std::string file;        ///< The shared object that defines cblas_sgemm; "" when none does.
};

/// Asks the dynamic linker where `cblas_sgemm` leads from the global scope, the same search that binds MLX's
/// calls. Valid for a program linked with MLX. Thread-safe.
[[nodiscard]] BlasIdentity blas_identity();

/// What a file that answers BLAS calls is, judged by its path alone; `blas_identity` asks OpenBLAS itself
/// first.
[[nodiscard]] BlasIdentity blas_of_file(const std::string& file);

}  // namespace weir::govern
