#pragma once

#include "base/error.h"
#include "llm/gguf/reader.h"
#include "llm/text/vocabulary.h"

namespace weir::llm {

/// The tokenizer's keys of a model file (tokenizer.ggml.*, tokenizer.chat_template). kBadData names the key
/// that is missing or has another type.
[[nodiscard]] Result<Vocabulary> vocabulary_from(const GgufFile& file);

}  // namespace weir::llm
