#include "report/figures.h"

#include <gtest/gtest.h>
#include <clocale>

namespace weir::report {
namespace {

TEST(Figures, AChangeHasOneDecimalBelowTenPercent) {
  EXPECT_EQ(change(1.021), "+2.1 %");
  EXPECT_EQ(change(0.994), "−0.6 %");
  EXPECT_EQ(change(1.77), "+77 %");
  EXPECT_EQ(change(0.7), "−30 %");
}

TEST(Figures, WhatRoundsToZeroHasNoSign) {
  EXPECT_EQ(change(0.99999), "0.0 %");
  EXPECT_EQ(signed_in_unit(-1'000, byte_unit(2'000'000'000)), "0.00");
}

TEST(Figures, OneUnitServesTheWholeTable) {
  const ByteUnit gb = byte_unit(2'840'000'000);
  EXPECT_EQ(in_unit(2'840'000'000, gb), "2.84");
  EXPECT_EQ(signed_in_unit(-1'880'000'000, gb), "−1.88");
  EXPECT_EQ(in_unit(276'000'000, byte_unit(276'000'000)), "276");
}

TEST(Figures, ABoundStandsInBracketsAndUnknownOnesAreMarked) {
  lab::Ratio ratio{1.004, 0.994, std::nullopt, 6, {}, {}, {}};
  EXPECT_EQ(change_with_bound(ratio), "+0.4 % (≥ −0.6 %)");
  ratio.lower.reset();
  EXPECT_EQ(change_with_bound(ratio), "+0.4 % (≥ ?)");
  EXPECT_EQ(saving_with_bound({1'880'000'000, 1'870'000'000, {}, 3, {}, {}}, byte_unit(2'840'000'000)),
            "−1.88 (≤ −1.87)");
}

TEST(Figures, ANegativeSavingIsGrowth) {
  EXPECT_EQ(saving_with_bound({-50'000'000, -60'000'000, {}, 3, {}, {}}, byte_unit(2'000'000'000)),
            "+0.05 (≤ +0.06)");
}

TEST(Figures, MinutesAreRoundedUp) {
  EXPECT_EQ(minutes(3.1), "4 min");
  EXPECT_EQ(minutes(0.21), "0.3 min");
  EXPECT_EQ(minutes(500), "9 h");
}

TEST(Figures, BackendAndLibraryAreNamedOnce) {
  lab::Environment environment;
  environment.backend = "mlx-cpu";
  environment.library = "mlx 0.32.4";
  EXPECT_EQ(backend_and_library(environment), "mlx-cpu 0.32.4");
  environment.library = "other 1.2";
  EXPECT_EQ(backend_and_library(environment), "mlx-cpu, other 1.2");
}

TEST(Figures, ReasonsAreWords) {
  lab::ArmResult arm;
  arm.verdict = lab::Verdict::kClose;
  arm.reason = "no_saving";
  EXPECT_EQ(verdict_text(arm), "CLOSE: no saving");
}

TEST(Figures, DoNotFollowTheLocale) {
  const char* old = std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(change(1.021), "+2.1 %");
  EXPECT_EQ(speed(10.23), "10.2");
  if (old != nullptr) std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace weir::report
