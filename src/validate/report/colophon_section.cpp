// Where and with what the measurements were made, and how to repeat them.
#include <fmt/format.h>

#include "validate/report/markup.hpp"
#include "validate/report/numbers.hpp"
#include "validate/report/page.hpp"

namespace trine::validation::report {

std::string colophon_section(const Certificate& c, const std::string& command) {
  std::string facts;
  const auto add = [&](const char* name, const std::string& value, const char* css = "") {
    facts += fmt::format("<div><dt>{}</dt><dd{}>{}</dd></div>\n", name, css, escaped(value));
  };
  add("Model", c.model);
  add("SHA-256", c.model_sha256, " class=\"code\"");
  add("Structure", fmt::format("{}, {} atoms", c.structure, c.atoms));
  add("Device", c.device);
  add("Machine", c.machine);
  add("trine", c.version);
  add("Date", c.date);
  add("Time taken", duration(c.seconds));
  return section("colophon", "Colophon",
                 "The numbers of this page, complete and in full precision, are in "
                 "<code>report.json</code>; the method that was found is in "
                 "<code>policy.json</code>.",
                 fmt::format("<dl class=\"facts wide\">\n{}</dl>\n<h3>To repeat it</h3>\n"
                             "<pre><code>{}</code></pre>\n",
                             facts, escaped(command)));
}

}  // namespace trine::validation::report
