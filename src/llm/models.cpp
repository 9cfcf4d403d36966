#include "llm/models.h"

#include "base/child_process.h"
#include "limits/size.h"

namespace weir::llm {

namespace {

struct KnownModel {
  std::string_view name;
  const char* file;  // under share/weir/models, beside the folder of the executable
};

constexpr KnownModel kKnownModels[] = {
    {kDefaultModel, "SmolLM2-135M-Instruct.Q4_1.gguf"},
};

}  // namespace

Result<std::filesystem::path> find_model(const std::string& name_or_path) {
  const auto models =
      std::filesystem::path(own_executable()).parent_path().parent_path() / "share/weir/models";
  std::error_code ignored;
  for (const KnownModel& model : kKnownModels) {
    if (name_or_path != model.name) continue;
    const auto path = models / model.file;
    if (std::filesystem::exists(path, ignored)) return path;
    return fail(ErrorKind::kEnvironment, name_or_path,
                "the embedded model is not installed: " + path.string() + " is missing; run scripts/setup");
  }
  if (std::filesystem::exists(name_or_path, ignored)) return std::filesystem::path(name_or_path);
  return fail(
      ErrorKind::kEnvironment, limits::shown(name_or_path),
      "no such model: neither a file nor a known name; weir knows \"smollm2\", a path names any GGUF file");
}

}  // namespace weir::llm
