#include "pool/stand_in_library.h"

#include <thread>

namespace weir::pool {

void run_on_library_thread(void (*body)()) {
  std::thread thread([body] { body(); });
  thread.join();
}

}  // namespace weir::pool
