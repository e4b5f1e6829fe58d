#include "stop_signal.hpp"

#include <array>
#include <csignal>

namespace trine::app {

namespace {

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

volatile std::sig_atomic_t g_noted = 0;
std::array<struct sigaction, 2> g_before;

extern "C" void note_signal(int signal) {
  if (g_noted != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  g_noted = signal;
}

}  // namespace

StopSignal::StopSignal() {
  g_noted = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;  // files are written on
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &g_before[i]);
    if (g_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &g_before[i], nullptr);
}

const char* StopSignal::name() const {
  if (g_noted == 0) return nullptr;
  return g_noted == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace trine::app
