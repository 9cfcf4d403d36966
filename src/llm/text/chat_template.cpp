#include "llm/text/chat_template.h"

#include <utility>

#include "llm/text/template_text.h"

namespace weir::llm {
namespace {

constexpr std::string_view kStart = "<|im_start|>";
constexpr std::string_view kEnd = "<|im_end|>";

struct Row {
  std::string_view name;
  std::string_view source;
  std::string_view
      default_system;  // put in front of a conversation that has messages but no system one first
};

#define WEIR_CHATML_BODY                                                                                 \
  "{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}" \
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
#define WEIR_CHATML_DEFAULT(system)                         \
  "{% if loop.first and messages[0]['role'] != 'system' %}" \
  "{{ '<|im_start|>system\\n" system "<|im_end|>\\n' }}{% endif %}"
#define WEIR_SMOLLM_SYSTEM "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
#define WEIR_QWEN_SYSTEM "You are a helpful assistant."
#define WEIR_EACH_MESSAGE "{% for message in messages %}"

constexpr Row kRows[] = {
    {"smollm2", WEIR_EACH_MESSAGE WEIR_CHATML_DEFAULT(WEIR_SMOLLM_SYSTEM) WEIR_CHATML_BODY,
     WEIR_SMOLLM_SYSTEM},
    {"qwen2", WEIR_EACH_MESSAGE WEIR_CHATML_DEFAULT(WEIR_QWEN_SYSTEM) WEIR_CHATML_BODY, WEIR_QWEN_SYSTEM},
    {"chatml", WEIR_EACH_MESSAGE WEIR_CHATML_BODY, ""},
    {"chatml-guarded",
     "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif "
     "%}" WEIR_EACH_MESSAGE WEIR_CHATML_BODY,
     ""},
};

#undef WEIR_EACH_MESSAGE
#undef WEIR_QWEN_SYSTEM
#undef WEIR_SMOLLM_SYSTEM
#undef WEIR_CHATML_DEFAULT
#undef WEIR_CHATML_BODY

// The first characters of a template for a message: one line, no half character.
std::string beginning(const std::string& source) {
  constexpr std::size_t kShown = 48;
  std::string shown;
  for (const char c : source.substr(0, kShown))
    shown += c >= ' ' && c <= '~' ? c : ' ';
  return shown;
}

void add_turn(std::string_view role, std::string_view content, std::vector<TextPart>& parts) {
  parts.push_back({std::string(kStart), true});
  parts.push_back({std::string(role).append("\n").append(content), false});
  parts.push_back({std::string(kEnd), true});
  parts.push_back({"\n", false});
}

}  // namespace

Result<ChatTemplate> ChatTemplate::recognise(const std::optional<std::string>& source) {
  constexpr const char* kKey = "tokenizer.chat_template";
  if (!source) {
    return fail(ErrorKind::kBadData, kKey,
                "the model file has no chat template; --raw sends the prompt as it is");
  }
  const std::string wanted = normalised_template(*source);
  for (const Row& row : kRows) {
    if (normalised_template(row.source) != wanted) continue;
    ChatTemplate found;
    found.name_ = row.name;
    found.default_system_ = row.default_system;
    found.end_of_turn_ = kEnd;
    return found;
  }
  return fail(
      ErrorKind::kBadData, kKey,
      "chat template not known: starts with '" + beginning(*source) + "'; --raw sends the prompt as it is");
}

std::vector<TextPart> ChatTemplate::render_parts(const std::vector<Message>& messages) const {
  std::vector<TextPart> parts;
  const bool wants_system = !default_system_.empty() && !messages.empty() && messages[0].role != "system";
  if (wants_system) add_turn("system", default_system_, parts);
  for (const Message& message : messages)
    add_turn(message.role, message.content, parts);
  parts.push_back({std::string(kStart), true});
  parts.push_back({"assistant\n", false});
  return parts;
}

std::string ChatTemplate::render(const std::vector<Message>& messages) const {
  std::string text;
  for (const TextPart& part : render_parts(messages))
    text += part.text;
  return text;
}

const std::string& ChatTemplate::end_of_turn() const noexcept {
  return end_of_turn_;
}
const std::string& ChatTemplate::default_system() const noexcept {
  return default_system_;
}
const std::string& ChatTemplate::name() const noexcept {
  return name_;
}

}  // namespace weir::llm
