#pragma once

#include <string>
#include <string_view>

namespace weir::govern {

/// The instruction sets that decide which OpenBLAS kernel this processor deserves.
struct CpuFeatures {
  bool avx2_fma = false;
  bool avx512 = false;  ///< F, DQ, BW, VL and CD.
};
[[nodiscard]] CpuFeatures cpu_features() noexcept;

/// The OPENBLAS_CORETYPE to ask for when OpenBLAS has chosen `core` on a processor with these features; ""
/// when its own choice is as good. OpenBLAS falls back to SSE3 kernels on processors that are newer than
/// itself (0.3.21 does on Xeons after Ice Lake: sgemm at a quarter of its speed). Pure.
[[nodiscard]] std::string better_kernel(std::string_view core, const CpuFeatures& features);

/// The kernel that OpenBLAS uses in this process ("SkylakeX", "Prescott"); "" without OpenBLAS.
[[nodiscard]] std::string blas_kernel();
[[nodiscard]] int blas_threads();

/// Makes OpenBLAS use the kernel of this processor: it reads OPENBLAS_CORETYPE only while it is loaded, so
/// the process sets the variable and executes itself once more, same arguments, same PID. Returns when there
/// is nothing to mend, or the variable is set by somebody. To be called before any thread or file is open.
void choose_blas_kernel();

/// For a program that multiplies nothing and may run where address space or data is limited (`ulimit -v`,
/// `-d`): OpenBLAS's threads there ask for memory for ever, at full speed. The process executes itself once
/// more with one thread; then the variables are as they were. To be called before anything else.
void forgo_blas_threads();

}  // namespace weir::govern
