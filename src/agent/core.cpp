#include <unistd.h>
#include <cctype>
#include <exception>
#include <string>

#include "agent/recognition.h"
#include "govern/process_governor.h"
#include "wire/agent_settings.h"
#include "wire/memory_table.h"
#include "wire/page_file.h"

namespace weir::agent {
namespace {

bool stays = false;  // Written inside the shim's once, read after it.

void say(const std::string& what) {
  const std::string line = "weir: MLX runs ungoverned: " + what + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

// One line, whatever somebody put into the variable.
std::string quoted(const char* text) {
  std::string shown(text);
  if (shown.size() > 100) shown = shown.substr(0, 100) + "…";
  for (char& letter : shown) {
    if (std::iscntrl(static_cast<unsigned char>(letter)) != 0) letter = '?';
  }
  return "'" + shown + "'";
}

const void* any_function(const weir_memory_table& real) {
  const void* candidates[] = {reinterpret_cast<const void*>(real.allocator),
                              reinterpret_cast<const void*>(real.get_active_memory),
                              reinterpret_cast<const void*>(real.clear_cache)};
  for (const void* candidate : candidates) {
    if (candidate != nullptr) return candidate;
  }
  return nullptr;
}

/// A page that says off, so that `weir run` knows.
void leave_word(const wire::AgentSettings& settings, const char* library, const char* pages) {
  wire::CountersPage* const page =
      wire::make_page(pages, {settings.run, settings.allocator, library, false}, nullptr);
  page->state.store(static_cast<std::uint32_t>(wire::PageState::kOff), std::memory_order_relaxed);
  wire::leave_page(page);
}

const weir_memory_table* start(const weir_memory_table* real, const char* library, const char* settings,
                               const char* pages) {
  govern::Start start;
  if (settings == nullptr) {
    say(std::string(wire::kAgentVariable) + " is not set; start the program by weir run");
    return real;
  }
  if (!wire::parse_settings(settings, start.settings)) {
    say(std::string(wire::kAgentVariable) + " is " + quoted(settings) +
        ", which is not what weir run writes; unset it, or start the program by weir run");
    return real;
  }
  if (const std::string wrong = objection(facts_of(any_function(*real))); !wrong.empty()) {
    say(std::string(library) + ", " + wrong);
    leave_word(start.settings, library, pages);
    return real;
  }
  start.real = real;
  start.library = library;
  start.pages_folder = pages == nullptr ? "" : pages;
  stays = true;  // Whatever becomes of it: handlers and threads of a try that fails may last.
  return govern::govern_process(start);
}

}  // namespace
}  // namespace weir::agent

extern "C" __attribute__((visibility("default"))) const weir_memory_table* weir_agent_start(
    const weir_memory_table* real, const char* library, const char* settings, const char* pages) {
  try {
    return weir::agent::start(real, library, settings, pages);
  } catch (const std::exception& error) {
    constexpr char kLine[] = "weir: MLX runs ungoverned: the agent could not start\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kLine, sizeof kLine - 1);
    return real;
  }
}

extern "C" __attribute__((visibility("default"))) int weir_agent_stays() {
  return weir::agent::stays ? 1 : 0;
}
