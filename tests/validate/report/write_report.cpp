// Writes the reports of a made-up certificate, for the tests of them in Python: write_report FOLDER
#include <cstdio>
#include <fstream>
#include <string>

#include "validate/sample_certificate.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "use: %s FOLDER\n", argv[0]);
    return 2;
  }
  const std::string folder = argv[1];
  auto certificate = trine::sample::certificate();
  // Names that a page must not take for its own tags.
  certificate.structure = "a<b>&\"c\".xyz";
  const std::string command = "trine validate trine-mini.ckpt 'a<b>&\"c\".xyz' --report out";
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
  };
  write("report.html", trine::certificate_html(certificate, command));
  write("report.json", trine::certificate_json(certificate));
  std::fputs(trine::certificate_text(certificate).c_str(), stdout);
  return 0;
}
