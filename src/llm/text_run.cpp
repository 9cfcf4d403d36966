#include "llm/text_run.h"

#include <utility>

#include "llm/text/chat_template.h"
#include "llm/text/detokenizer.h"
#include "llm/text/stop_strings.h"

namespace weir::llm {

namespace {

Result<std::vector<TokenId>> encode_chat(const Engine& engine, const std::string& prompt) {
  const auto chat = ChatTemplate::recognise(engine.chat_template());
  if (!chat) return tl::unexpected(chat.error());
  return engine.tokenizer().encode(chat->render_parts({{"user", prompt}}));
}

}  // namespace

Result<TextResult> run_text(Engine& engine, const TextRequest& request,
                            const std::function<void(std::string_view)>& on_text) {
  auto tokens =
      request.raw ? engine.tokenizer().encode(request.prompt, true) : encode_chat(engine, request.prompt);
  if (!tokens) return tl::unexpected(tokens.error());
  EngineRequest run = request.engine;
  run.prompt = std::move(*tokens);
  TextResult result;
  result.prompt_tokens = static_cast<int>(run.prompt.size());
  Detokenizer detokenizer(engine.tokenizer());
  StopStrings stops(request.stops);
  bool stopped = false;
  const auto emit = [&](const std::string& text) {
    result.text += text;
    if (!text.empty()) on_text(text);
  };
  auto ran = engine.run(run, [&](TokenId token) {
    const StopStrings::Step step = stops.push(detokenizer.push(token));
    emit(step.emit);
    stopped = step.stopped;
    return !stopped;
  });
  if (!ran) return tl::unexpected(ran.error());
  if (!stopped) emit(stops.push(detokenizer.flush()).emit + stops.flush());
  result.engine = std::move(*ran);
  return result;
}

}  // namespace weir::llm
