#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>

#include "trine/certificate.hpp"
#include "validate/report/page.hpp"
#include "validate/sample_certificate.hpp"

namespace trine {
namespace {

void expect_has(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << words << "\nis not in\n" << text;
}

TEST(CertificateText, FitsATerminal) {
  std::istringstream text(certificate_text(sample::certificate()));
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    EXPECT_LT(line.size(), 100u) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
  }
  EXPECT_GT(lines, 40);
}

TEST(CertificateText, SaysWhatCameOut) {
  const auto certificate = sample::certificate();
  const std::string text = certificate_text(certificate);
  expect_has(text, "\n  tf32x3  PASS           2.05 times as fast as fp32\n");
  expect_has(text,
             "\n  tf32    FAIL           single-point: force error 1180 x fp32's (limit 1.5)\n");
  expect_has(text, "\n  fp64e   NOT AVAILABLE  fp64e: not in this build");
  expect_has(text, "\n  fp32        0.940      ");
  expect_has(text, "500 stalled");
  expect_has(text, "\nNot done: nve. atoms 3 and 4 are held\n");
  // Numbers that were not measured.
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("\n  fp64e +- +-"))) << text;
}

TEST(CertificateText, ReasonsWrapBelowTheirBeginning) {
  auto certificate = sample::certificate();
  std::string reason = "relax:";
  for (int i = 0; i < 30; ++i) reason += " word" + std::to_string(i);
  certificate.verdicts[1].reasons = {reason};
  const std::string text = certificate_text(certificate);
  const auto first = text.find("relax: word0");
  const auto column = first - text.rfind('\n', first) - 1;
  const auto second = text.find('\n', first) + 1;
  EXPECT_EQ(text.find_first_not_of(' ', second) - second, column) << text;
}

TEST(Certificate, IsSummedUpInASentence) {
  using validation::report::overall_sentence;
  auto certificate = sample::certificate();
  EXPECT_EQ(overall_sentence(certificate),
            "The policy found layer by layer may be used: 3.30 times as fast as fp32, force error "
            "1.34 of fp32's.");
  certificate.best = {"fp16x3", Precision::fp32, GemmMethod::fp16x3};
  EXPECT_EQ(overall_sentence(certificate),
            "fp16x3 may be used: 3.10 times as fast as fp32, force error 0.86 of fp32's.");
  for (auto& verdict : certificate.verdicts) verdict.speedup = kNotMeasured;
  EXPECT_EQ(overall_sentence(certificate), "fp16x3 may be used: force error 0.86 of fp32's.");
  certificate.best = {"fp32", Precision::fp32, {}};
  EXPECT_EQ(overall_sentence(certificate), "fp32 stays: no speed was measured.");
  certificate.verdicts[1].speedup = 0.9;
  EXPECT_EQ(overall_sentence(certificate), "fp32 stays: no faster method keeps to the limits.");
  certificate.verdicts[0].standing = Standing::fail;
  EXPECT_EQ(overall_sentence(certificate).substr(0, 23), "Nothing can be judged: ");
}

TEST(Certificate, WithNothingInItIsStillWritten) {
  const Certificate empty;
  EXPECT_FALSE(certificate_text(empty).empty());
  const std::string page = certificate_html(empty, "");
  EXPECT_EQ(page.find("<svg class=\"chart\""), std::string::npos);
  expect_has(page, "id=\"methods\"");
  // Experiments of which nothing came back.
  Certificate certificate;
  certificate.single_point.emplace();
  certificate.smoothness.emplace();
  certificate.drift.emplace();
  certificate.relaxation.emplace();
  certificate.invariance.emplace();
  certificate.layers.emplace();
  expect_has(certificate_html(certificate, ""), "id=\"layers\"");
  certificate.drift->runs.resize(1);
  certificate.relaxation->runs.resize(1);
  certificate.smoothness->curves.resize(1);
  certificate.single_point->errors.resize(1);
  certificate.invariance->rows.resize(1);
  certificate.layers->layers.resize(1);
  const std::string text = certificate_html(certificate, "") + certificate_text(certificate);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace trine
