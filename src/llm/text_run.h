#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "llm/engine.h"

namespace weir::llm {

/// A prompt in words.
struct TextRequest {
  std::string prompt;
  bool raw = false;  ///< Sends the prompt as it is, marks in it are understood; else the chat template.
  std::vector<std::string> stops;  ///< The answer ends before the first of these.
  EngineRequest engine;            ///< Everything but `prompt`, which is filled here.
};

struct TextResult {
  std::string text;
  int prompt_tokens = 0;
  EngineResult engine;
};

/// Encodes, runs, and streams the answer: `on_text` gets pieces of whole UTF-8 characters that no stop string
/// can take back. A model without a known chat template is kBadData unless `raw`.
[[nodiscard]] Result<TextResult> run_text(Engine& engine, const TextRequest& request,
                                          const std::function<void(std::string_view)>& on_text);

}  // namespace weir::llm
