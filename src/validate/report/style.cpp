// The look of report.html. Colours are variables, so that light, dark and print differ in them
// alone.
#include "validate/report/page.hpp"

namespace trine::validation::report {

namespace {

constexpr const char* kStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1b2330; --soft: #5a6576; --rule: #dde2e9;
  --rule-strong: #aab3c0; --link: #0b5cad; --zebra: #f8f9fb; --band: #e9ecf1;
  --pass: #11693c; --pass-back: #e0f3e7; --fail: #a3201d; --fail-back: #fbe6e4;
  --none: #545e6d; --none-back: #eaedf1; --limit: #a3201d;
  --fp64: #1b2330; --fp32: #6a7484; --tf32: #3d8fc7; --tf32x3: #0b5794; --bf16: #7a8f00;
  --bf16x3: #3f8a2c; --bf16x6: #00806b; --bf16x9: #005247; --fp16: #c07400; --fp16x3: #c8431d;
  --policy: #8b36a8; --other: #a8447c;
  --h0: #eef4fa; --h1: #d3e4f3; --h2: #fbe9c6; --h3: #f8d08a; --h4: #f2a97a; --h5: #e5795f;
  --heat-text: #1b2330;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #10141a; --card: #181d25; --text: #e6eaf0; --soft: #9ca7b6; --rule: #2b323d;
    --rule-strong: #566170; --link: #7cb9f5; --zebra: #1c222b; --band: #252c37;
    --pass: #7ddba3; --pass-back: #143524; --fail: #ff9d94; --fail-back: #47201f;
    --none: #aeb8c6; --none-back: #29313c; --limit: #ff9d94;
    --fp64: #e6eaf0; --fp32: #97a2b2; --tf32: #86c8f2; --tf32x3: #4c9df0; --bf16: #c3d24a;
    --bf16x3: #7fc866; --bf16x6: #35c6a4; --bf16x9: #96e6d6; --fp16: #f3b64a; --fp16x3: #ff8b66;
    --policy: #d196e6; --other: #ef9cc6;
    --h0: #1d2732; --h1: #1f3a52; --h2: #4a4222; --h3: #6b4f1c; --h4: #82451f; --h5: #96372a;
    --heat-text: #eef1f5;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
header, main { max-width: 1080px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 44px; }
.eyebrow {
  margin: 0; color: var(--soft); font-size: 13px; font-weight: 600; letter-spacing: 0.09em;
  text-transform: uppercase;
}
h1 { margin: 4px 0 20px; font-size: 32px; line-height: 1.2; font-weight: 650; overflow-wrap: anywhere; }
h2 { margin: 0 0 6px; font-size: 21px; line-height: 1.3; font-weight: 650; }
h3 { margin: 26px 0 10px; font-size: 15px; font-weight: 650; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.92em; }
pre {
  margin: 0; padding: 12px 14px; background: var(--band); border-radius: 8px; overflow-x: auto;
}
nav { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 18px 0 0; font-size: 14px; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
.facts { display: flex; flex-wrap: wrap; gap: 10px 36px; margin: 0; }
.facts dt { color: var(--soft); font-size: 13px; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.facts.wide { display: grid; grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); gap: 12px 28px; }
.facts dd.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px; }
.outcome {
  margin: 24px 0 0; padding: 14px 18px; border-left: 4px solid; border-radius: 4px 10px 10px 4px;
  font-size: 18px; line-height: 1.45; font-weight: 550;
}
.outcome.pass { background: var(--pass-back); color: var(--pass); }
.outcome.none { background: var(--none-back); color: var(--none); }
section {
  margin: 22px 0; padding: 26px 28px 24px; background: var(--card); border: 1px solid var(--rule);
  border-radius: 12px;
}
.intro { max-width: 74ch; margin: 0 0 18px; color: var(--soft); font-size: 15px; }
.scroll { overflow-x: auto; margin: 14px -8px 0; border-radius: 6px; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums lining-nums; }
th, td { padding: 7px 7px; text-align: left; vertical-align: baseline; white-space: nowrap; }
thead th {
  border-bottom: 1px solid var(--rule-strong); color: var(--soft); font-weight: 600; font-size: 13px;
  line-height: 1.3; vertical-align: bottom;
}
small { font-weight: 400; font-size: 12px; }
tbody tr { border-bottom: 1px solid var(--rule); background: var(--card); }
tbody tr:last-child { border-bottom: 0; }
tbody tr:nth-child(even) { background: var(--zebra); }
tbody th { position: sticky; left: 0; background: inherit; font-weight: 600; }
.n { text-align: right; }
td sup { line-height: 0; font-size: 0.75em; }
.why { color: var(--fail); white-space: normal; min-width: 30ch; }
.bad { color: var(--fail); }
.spot {
  display: inline-block; width: 10px; height: 10px; margin-right: 8px; border-radius: 3px;
  background: var(--c);
}
.pill {
  display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 12px; font-weight: 650;
  letter-spacing: 0.02em; white-space: nowrap;
}
.pill.pass { background: var(--pass-back); color: var(--pass); }
.pill.fail { background: var(--fail-back); color: var(--fail); }
.pill.none { background: var(--none-back); color: var(--none); }
.reasons { margin: 0; padding: 0; list-style: none; white-space: normal; min-width: 32ch; font-size: 13px; line-height: 1.4; }
.reasons li + li { margin-top: 3px; }
.because { display: none; margin: 14px 0 0; font-size: 14px; line-height: 1.45; }
.because dt { margin-top: 8px; font-weight: 600; }
.because dd { margin: 0; }
.limits { display: grid; grid-template-columns: repeat(auto-fit, minmax(310px, 1fr)); gap: 0 36px; margin: 0; font-size: 14px; }
.limits div { display: flex; justify-content: space-between; gap: 16px; padding: 5px 0; border-bottom: 1px solid var(--rule); }
.limits dt { color: var(--soft); }
.limits dd { margin: 0; white-space: nowrap; font-variant-numeric: tabular-nums; }
figure { max-width: 880px; margin: 0 auto 26px; }
figcaption { max-width: 74ch; margin: 4px 0 0; color: var(--soft); font-size: 13.5px; line-height: 1.45; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0 0 8px; padding: 0; list-style: none; font-size: 13px; }
.legend li { display: flex; align-items: center; gap: 7px; }
.key { width: 36px; height: 12px; flex: none; }
.key.small { width: 12px; }
.chart { display: block; width: 100%; height: auto; }
.chart text { font-size: 12px; fill: var(--soft); font-variant-numeric: tabular-nums; }
.chart .axis-title { fill: var(--text); }
.chart .up { font-size: 75%; }
.grid { fill: none; stroke: var(--rule); stroke-width: 1; }
.axis { fill: none; stroke: var(--rule-strong); stroke-width: 1.2; }
.line { fill: none; stroke: var(--c); stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
.line.fine { stroke-width: 1.3; }
.line.thin { stroke-width: 1; opacity: 0.7; }
.dot { fill: var(--c); stroke: var(--card); stroke-width: 0.7; }
.span { fill: none; stroke: var(--c); stroke-width: 2; opacity: 0.5; }
.bar { fill: var(--c); }
.band { fill: var(--band); }
.level { fill: none; stroke: var(--c, var(--rule-strong)); stroke-width: 1.4; }
.level.zero { stroke: var(--rule-strong); }
.level.limit { stroke: var(--limit); stroke-dasharray: 6 4; }
.chart .note.limit { fill: var(--limit); }
.m-fp64 { --c: var(--fp64); } .m-fp32 { --c: var(--fp32); } .m-tf32 { --c: var(--tf32); }
.m-tf32x3 { --c: var(--tf32x3); } .m-bf16 { --c: var(--bf16); } .m-bf16x3 { --c: var(--bf16x3); }
.m-bf16x6 { --c: var(--bf16x6); } .m-bf16x9 { --c: var(--bf16x9); } .m-fp16 { --c: var(--fp16); }
.m-fp16x3 { --c: var(--fp16x3); } .m-policy { --c: var(--policy); } .m-other { --c: var(--other); }
.line.m-fp64 { stroke-width: 2.4; }
.line.m-tf32, .line.m-bf16, .line.m-fp16 { stroke-dasharray: 1.5 4; }
.line.m-bf16x3 { stroke-dasharray: 6 4; }
.line.m-bf16x9 { stroke-dasharray: 12 4; }
.line.m-policy { stroke-dasharray: 9 3 2 3; }
.line.m-other { stroke-dasharray: 4 3; }
.rank { display: inline-block; min-width: 1.7em; margin-right: 8px; color: var(--soft); font-weight: 400; text-align: right; }
.share { display: inline-flex; align-items: center; gap: 8px; }
.share-bar { width: 96px; height: 10px; fill: var(--tf32x3); }
.heat { display: inline-block; min-width: 5.2em; padding: 0 6px; border-radius: 4px; color: var(--heat-text); }
.h0 { background: var(--h0); } .h1 { background: var(--h1); } .h2 { background: var(--h2); }
.h3 { background: var(--h3); } .h4 { background: var(--h4); } .h5 { background: var(--h5); }
@media (max-width: 640px) {
  header, main { padding: 0 12px; }
  header { padding-top: 26px; }
  h1 { font-size: 25px; }
  section { margin: 14px 0; padding: 18px 14px 16px; border-radius: 10px; }
  .outcome { font-size: 16.5px; }
  .limits { grid-template-columns: 1fr; }
  .reasons { display: none; }
  .because { display: block; }
  .why span { display: inline-block; max-width: calc(100vw - 150px); }
  .chart text { font-size: 19px; }
  .chart .line { stroke-width: 2.6; }
  .chart .line.fine { stroke-width: 2; }
  .chart .line.thin { stroke-width: 1.5; }
}
@media print {
  :root { color-scheme: light; --page: #ffffff; --zebra: #ffffff; --text: #000000; --soft: #3c4450; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10.5pt; }
  header, main { max-width: none; padding: 0; }
  nav { display: none; }
  section { border: 0; padding: 0; margin: 18pt 0; }
  figure, tr, .intro, .limits div, .outcome { break-inside: avoid; }
  h2, h3, .intro, thead { break-after: avoid; }
  .scroll { overflow: visible; margin: 8pt 0 0; }
  table { font-size: 8.5pt; }
  th, td { padding: 3pt 4pt; white-space: normal; }
  tbody th { white-space: nowrap; position: static; }
  figure { max-width: 15cm; }
}
)css";

}  // namespace

const char* style_sheet() {
  return kStyle;
}

}  // namespace trine::validation::report
