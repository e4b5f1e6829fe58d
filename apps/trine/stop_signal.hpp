// Ending a run in good order when the user or the machine asks for it.
#pragma once

namespace trine::app {

/// While one exists, the first SIGINT or SIGTERM is only noted; the second ends the program at
/// once, as if nobody had listened. A signal that is ignored (nohup, a job in the background) stays
/// so. One at a time.
class StopSignal {
 public:
  StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  /// "SIGINT" or "SIGTERM" once one has come, else null.
  const char* name() const;
};

}  // namespace trine::app
