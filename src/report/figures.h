#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/result.h"

namespace weir::report {

/// Numbers as people read them in tables and sentences. UTF-8 signs ("−"), no locale, unknown is "?".

/// The unit of every byte column of one table, from its largest figure: GB from 1 GB up, else MB.
struct ByteUnit {
  const char* name;
  double bytes;
  int decimals;
};
[[nodiscard]] ByteUnit byte_unit(std::int64_t largest_bytes);

/// "2.84" in the unit; `signed_bytes` adds "+" or "−" ("−1.88"; "0.00" has none).
[[nodiscard]] std::string in_unit(std::int64_t bytes, const ByteUnit& unit);
[[nodiscard]] std::string signed_in_unit(std::int64_t bytes, const ByteUnit& unit);

/// A ratio as a change: 1.021 -> "+2.1 %", 0.994 -> "−0.6 %", 1.77 -> "+77 %".
[[nodiscard]] std::string change(double ratio);
/// A share as a percentage without a sign: 0.006 -> "0.6 %".
[[nodiscard]] std::string percent(double share);
/// "+2.1 % (≥ +0.9 %)": the change with its lower bound, "(≥ ?)" where no bound is known.
[[nodiscard]] std::string change_with_bound(const lab::Ratio& ratio);
/// "−1.88 (≤ −1.87)": the footprint's change with the bound of the saving.
[[nodiscard]] std::string saving_with_bound(const lab::Saved& saved, const ByteUnit& unit);

/// Three significant digits: 152.3 -> "152", 10.23 -> "10.2".
[[nodiscard]] std::string speed(double tokens_per_second);
/// Minutes of a plan: "4 min", "0.5 min" below one, "9 h" above two hours.
[[nodiscard]] std::string minutes(double count);
/// Thousands: 651,800 -> "652".
[[nodiscard]] std::string thousands(std::int64_t count);

/// "SHIP", "CLOSE: no saving", "INCONCLUSIVE: undecided", "baseline".
[[nodiscard]] std::string verdict_text(const lab::ArmResult& arm);

/// "mlx-cpu 0.32.4" from a backend and a library such as "mlx 0.32.4".
[[nodiscard]] std::string backend_and_library(const lab::Environment& environment);
/// "2 cores (0, 1)" where the plan pins, else "2 threads".
[[nodiscard]] std::string cores(const lab::Environment& environment);

}  // namespace weir::report
