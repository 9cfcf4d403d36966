#!/usr/bin/env python3
"""Writes known_answers.h: what SciPy and brute force say, for known_answers_test.cpp.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scipy
    /tmp/venv/bin/python make_known_answers.py > known_answers.h && clang-format -i known_answers.h
"""
import itertools

import numpy as np
import scipy
from scipy import stats


def signed_rank_counts(n):
    """Counts of W+ over all sign patterns, by listing them."""
    ranks = np.arange(1, n + 1)
    patterns = np.array(list(itertools.product((0, 1), repeat=n)))
    return np.bincount(patterns @ ranks, minlength=n * (n + 1) // 2 + 1)


def rank_of_bound(n, alpha):
    cumulative = np.cumsum(signed_rank_counts(n)) / 2.0**n
    return int(np.sum(cumulative <= alpha))


def walsh(d):
    return np.sort([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])


def flip_p(d, alternative):
    answer = stats.permutation_test((d,), np.mean, permutation_type="samples", vectorized=False,
                                    n_resamples=np.inf, alternative=alternative)
    return answer.pvalue


def number(value):
    return repr(float(value))


def main():
    random = np.random.default_rng(20261130)
    print("#pragma once\n")
    print("#include <vector>\n")
    print(f"// Written by make_known_answers.py with SciPy {scipy.__version__}; do not edit.\n")
    print("namespace weir::stats::known {\n")
    print("struct Sample {\n  std::vector<double> d;\n  double theta0, alpha, mean, sd, median;\n"
          "  double t_above, t_below, t_lower, t_upper;\n"
          "  double rank_above, rank_below, hodges_lehmann, rank_lower, rank_upper, flip_above, flip_below;\n};\n")
    print("inline const std::vector<Sample>& samples() {\n  static const std::vector<Sample> all = {")
    for n, alpha in ((5, 0.05), (6, 0.05), (6, 0.05 / 3), (8, 0.05), (8, 0.05 / 9), (10, 0.025), (12, 0.01)):
        theta0 = float(np.log(0.98))
        d = np.round(random.normal(-0.012, 0.015, n), 6)
        excess = d - theta0
        k = rank_of_bound(n, alpha)
        averages = walsh(d)
        half = stats.t.ppf(1 - alpha, n - 1) * d.std(ddof=1) / np.sqrt(n)
        row = [theta0, alpha, d.mean(), d.std(ddof=1), np.median(d),
               stats.ttest_1samp(d, theta0, alternative="greater").pvalue,
               stats.ttest_1samp(d, theta0, alternative="less").pvalue,
               d.mean() - half, d.mean() + half,
               stats.wilcoxon(excess, alternative="greater", method="exact").pvalue,
               stats.wilcoxon(excess, alternative="less", method="exact").pvalue,
               np.median(averages), averages[k - 1], averages[-k],
               flip_p(excess, "greater"), flip_p(excess, "less")]
        print("      {{" + ", ".join(map(number, d)) + "},\n       " + ", ".join(map(number, row)) + "},")
    print("  };\n  return all;\n}\n")

    print("struct Power {\n  double sd, distance;\n  int n;\n  double alpha, power;\n};\n")
    print("inline constexpr Power kPowers[] = {")
    for sd, distance, n, alpha in ((0.01, 0.02, 4, 0.05), (0.015, 0.0202, 6, 0.05), (0.03, 0.0202, 16, 0.05),
                                   (0.04, 0.0102, 98, 0.05), (0.02, 0.02, 8, 0.05 / 3), (0.02, -0.01, 8, 0.05),
                                   (0.02, 0.0, 5, 0.05), (0.001, 0.02, 2, 0.05)):
        critical = stats.t.ppf(1 - alpha, n - 1)
        power = stats.nct.sf(critical, n - 1, distance * np.sqrt(n) / sd)
        print(f"    {{{number(sd)}, {number(distance)}, {n}, {number(alpha)}, {number(power)}}},")
    print("};\n")

    print("struct Effect {\n  double sd;\n  int n;\n  double alpha, effect, sd_factor;\n};\n")
    print("inline constexpr Effect kEffects[] = {")
    for sd, n, alpha in ((0.015, 6, 0.05), (0.015, 6, 0.05 / 3), (0.02, 10, 0.05), (0.03, 3, 0.05)):
        effect = (stats.t.ppf(1 - alpha, n - 1) + stats.t.ppf(0.8, n - 1)) * sd / np.sqrt(n)
        factor = np.sqrt((n - 1) / stats.chi2.ppf(0.2, n - 1))
        print(f"    {{{number(sd)}, {n}, {number(alpha)}, {number(effect)}, {number(factor)}}},")
    print("};\n")

    print("struct Line {\n  std::vector<double> series;\n  double slope, p;\n};\n")
    print("inline const std::vector<Line>& lines() {\n  static const std::vector<Line> all = {")
    for slope in (0.0, 0.5):
        series = np.round(random.normal(0, 1, 12) + slope * np.arange(12), 5)
        answer = stats.linregress(np.arange(12), series)
        print("      {{" + ", ".join(map(number, series)) + f"}}, {number(answer.slope)}, {number(answer.pvalue)}}},")
    print("  };\n  return all;\n}\n")
    print("}  // namespace weir::stats::known")


if __name__ == "__main__":
    main()
