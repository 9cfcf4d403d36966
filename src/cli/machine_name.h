#pragma once

#include <string>

namespace weir::cli {

/// The processor and its cores, as results and curves are keyed by: "Intel(R) Xeon(R) Processor, 2 cores".
[[nodiscard]] std::string machine_name();

}  // namespace weir::cli
