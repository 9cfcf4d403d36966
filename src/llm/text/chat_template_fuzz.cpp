#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "llm/text/chat_template.h"
#include "llm/text/template_text.h"

// Any template text is taken; only known ones are recognised, and those render.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string source(reinterpret_cast<const char*>(data), size);
  // Each character may gain a backslash, and a tag its closing marks.
  if (weir::llm::normalised_template(source).size() > 2 * size + 4) std::abort();
  const auto found = weir::llm::ChatTemplate::recognise(source);
  if (found && found->render({{"user", "x"}}).find("user\nx") == std::string::npos) std::abort();
  return 0;
}
