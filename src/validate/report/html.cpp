// report.html: the page around its parts.
#include <fmt/format.h>

#include "trine/certificate.hpp"
#include "validate/report/markup.hpp"
#include "validate/report/page.hpp"

namespace trine {

namespace validation::report {

std::string section(const std::string& id, const std::string& title, const std::string& intro,
                    const std::string& body) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"intro\">{}</p>\n{}</section>\n",
                     id, title, intro, body);
}

std::string section(Experiment experiment, const std::string& intro, const std::string& body) {
  const SectionName name = section_of(experiment);
  return section(name.id, name.title, intro, body);
}

}  // namespace validation::report

std::string certificate_html(const Certificate& certificate, const std::string& command) {
  using namespace validation::report;
  std::string body = header_part(certificate) + "<main>\n" + summary_section(certificate);
  const auto& c = certificate;
  if (c.single_point) body += single_point_section(*c.single_point, c.limits);
  if (c.smoothness) body += smoothness_section(*c.smoothness);
  if (c.drift) body += drift_section(*c.drift);
  if (c.relaxation) body += relaxation_section(*c.relaxation);
  if (c.invariance) body += invariance_section(*c.invariance);
  if (c.layers) body += layers_section(*c.layers);
  body += colophon_section(certificate, command) + "</main>\n";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<title>Precision certificate: {} on {}</title>\n<link rel=\"icon\" href=\"data:,\"/>\n"
      "<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(c.model), escaped(c.structure), style_sheet(), body);
}

}  // namespace trine
