#pragma once

#include "base/error.h"
#include "price/curve.h"
#include "store/rows.h"

namespace weir::price {

/// One row of the curve, whose payload is the arm's part of a result's JSON (lab/result_json.h). A payload
/// that is no such object is kBadData.
[[nodiscard]] Result<CurveEntry> entry_from(const store::CurvePoint& point);

}  // namespace weir::price
