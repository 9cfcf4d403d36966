#include "lab/arm_limit.h"

#include "base/byte_text.h"

namespace weir::lab {

std::string kind_name(ArmLimit::Kind kind) {
  switch (kind) {
    case ArmLimit::Kind::kBytes:
      return "bytes";
    case ArmLimit::Kind::kUnset:
      return "unset";
    case ArmLimit::Kind::kUnlimited:
      return "unlimited";
  }
  return "";
}

std::optional<ArmLimit::Kind> kind_from_name(const std::string& name) {
  for (const auto kind : {ArmLimit::Kind::kBytes, ArmLimit::Kind::kUnset, ArmLimit::Kind::kUnlimited})
    if (name == kind_name(kind)) return kind;
  return std::nullopt;
}

std::optional<std::int64_t> effective_bytes(const ArmLimit& limit) {
  switch (limit.kind) {
    case ArmLimit::Kind::kBytes:
      return limit.bytes;
    case ArmLimit::Kind::kUnset:
      return kLibraryDefaultBytes;
    case ArmLimit::Kind::kUnlimited:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string arm_name(const ArmLimit& limit) {
  if (limit.kind == ArmLimit::Kind::kUnlimited) return "unlimited";
  if (limit.kind == ArmLimit::Kind::kUnset) return "unset (32 MiB)";
  if (limit.bytes == 0) return "0";
  const struct {
    std::int64_t size;
    const char* name;
  } units[] = {{std::int64_t{1} << 40, " TiB"}, {1 << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}};
  for (const auto& unit : units)
    if (limit.bytes % unit.size == 0) return with_commas(limit.bytes / unit.size) + unit.name;
  return exact_bytes(limit.bytes);
}

Arm make_arm(const ArmLimit& limit) {
  return {arm_name(limit), limit, "mlx"};
}

}  // namespace weir::lab
