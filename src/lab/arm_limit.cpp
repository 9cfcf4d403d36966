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

std::string limit_name(const ArmLimit& limit) {
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

std::string arm_name(Allocator allocator, const ArmLimit& limit) {
  if (allocator == Allocator::kMlx) return limit_name(limit);
  const bool own_default = allocator == Allocator::kWeir && limit.kind == ArmLimit::Kind::kUnset;
  return allocator_name(allocator) + " " + (own_default ? kind_name(limit.kind) : limit_name(limit));
}

Arm make_arm(const ArmLimit& limit) {
  return make_arm(Allocator::kMlx, limit);
}

Arm make_arm(Allocator allocator, const ArmLimit& limit) {
  return {arm_name(allocator, limit), limit, allocator};
}

std::optional<std::int64_t> effective_bytes(const Arm& arm) {
  if (arm.allocator == Allocator::kWeir && arm.cache_limit.kind == ArmLimit::Kind::kUnset)
    return std::nullopt;
  return effective_bytes(arm.cache_limit);
}

bool same_setting(const Arm& a, const Arm& b) {
  return a.allocator == b.allocator && effective_bytes(a) == effective_bytes(b);
}

}  // namespace weir::lab
