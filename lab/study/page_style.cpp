// Style sheets of charts and of pages with charts. Colours are variables, with a light and a dark set. Each of the
// eight series colours has a contrast of at least 3 to its background.

#include "page.hpp"

namespace concord::study {

const char* const chart_style = R"(
:root { color-scheme: light dark; --back: #fdfdfc; --card: #ffffff; --ink: #1c2024; --soft: #565e67; --edge: #d6dade;
  --grid: #e6e9ec; --link: #0b5cad; --bad: #b3261e; --changed: #fff3d6;
  --same: #c6ecd0; --bound: #d3e5fb; --failed: #ffb3ad;
  --s0: #0b62a4; --s1: #c4420b; --s2: #1a7f4e; --s3: #8e3b9e; --s4: #8a6100; --s5: #b3125f; --s6: #0f7680; --s7: #555f6b; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --card: #1b1f23; --ink: #e6e9ec; --soft: #a3adb8;
  --edge: #343b43; --grid: #2a3037; --link: #7cb8ff; --bad: #ff8a80; --changed: #43370f; --same: #1d5a33;
  --bound: #1f4573; --failed: #8e2f29;
  --s0: #6db7f2; --s1: #ff9a66; --s2: #5fd39a; --s3: #d69bf0; --s4: #e5bd5a; --s5: #ff86bd; --s6: #5fd0dc; --s7: #b8c2cc; } }
.plot text { font: 11.5px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--soft); }
.plot .name, .plot .value { fill: var(--ink); }
.plot .exponent { font-size: 9px; }
.plot .value { font-size: 11px; paint-order: stroke; stroke: var(--card); stroke-width: 6px; stroke-linejoin: round; }
.grid { stroke: var(--grid); } .axis { stroke: var(--soft); }
.line { fill: none; stroke: var(--c); stroke-width: 1.7; } .second .line { stroke-dasharray: 5 3; }
.spread { stroke: var(--c); stroke-width: 1.4; }
.mark-shape { fill: var(--c); stroke: var(--card); stroke-width: .8; } .hollow { fill: var(--card); stroke: var(--c); stroke-width: 1.6; }
.bar { fill: var(--c); }
.guide { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-dasharray: 7 4; opacity: .75; } .g1 { stroke-dasharray: 2 3; }
.mark:hover .mark-shape, .mark:hover .bar { stroke: currentColor; stroke-width: 1.6; }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); }
.s4 { --c: var(--s4); } .s5 { --c: var(--s5); } .s6 { --c: var(--s6); } .s7 { --c: var(--s7); }
.plot .title { font-size: 15px; font-weight: 600; fill: var(--ink); }
.card { fill: var(--card); stroke: var(--edge); }
.same { fill: var(--same); } .bound { fill: var(--bound); } .failed { fill: var(--failed); } .none { fill: var(--grid); }
)";

const char* const page_style = R"(
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0 auto; padding: 0 1rem 4rem; max-width: 74rem; background: var(--back); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 2rem 0 .5rem; }
h2 { font-size: 1.45rem; line-height: 1.25; margin: 0 0 .4rem; }
h3 { font-size: 1.08rem; margin: 1.8rem 0 .2rem; }
sup { font-size: .72em; line-height: 0; }
h4 { font-size: .95rem; margin: 0 0 .2rem; font-weight: 600; }
p { margin: .3rem 0 .8rem; max-width: 46rem; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .92em; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { position: static; display: inline-block; padding: .5rem; }
nav ul { list-style: none; padding: 0; margin: 1rem 0; display: flex; flex-wrap: wrap; gap: .4rem .5rem; }
nav a { display: inline-block; padding: .3rem .7rem; border: 1px solid var(--edge); border-radius: 1rem; background: var(--card);
  text-decoration: none; font-size: .92rem; }
nav a:hover { border-color: var(--link); }
section { border-top: 1px solid var(--edge); margin-top: 2.8rem; padding-top: 1.6rem; }
.question { font-size: 1.12rem; }
.soft, .caption { color: var(--soft); font-size: .92rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 27rem), 1fr)); gap: 1rem; margin: .8rem 0; }
figure { margin: 0; padding: .9rem; background: var(--card); border: 1px solid var(--edge); border-radius: .6rem; min-width: 0; }
figure.wide { grid-column: 1 / -1; }
figcaption p { font-size: .88rem; color: var(--soft); margin: 0 0 .4rem; }
.plot { display: block; width: 100%; max-width: 40rem; height: auto; color: var(--ink); overflow: visible; }
.legend { list-style: none; margin: .3rem 0 .2rem; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem .9rem; font-size: .85rem; }
.legend li { display: flex; align-items: center; gap: .35rem; }
.key { width: 2rem; height: 1rem; flex: none; color: var(--ink); }
.below { display: flex; flex-wrap: wrap; gap: .2rem 1rem; align-items: baseline; font-size: .88rem; margin-top: .5rem; }
details { flex: 1 1 8rem; min-width: 0; } details[open] { flex-basis: 100%; }
summary { cursor: pointer; color: var(--link); width: fit-content; }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: .86rem; margin: .5rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; max-width: 84vw; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .22rem .6rem; border-bottom: 1px solid var(--grid); text-align: left; white-space: nowrap; }
.devices td { white-space: normal; min-width: 9.5rem; max-width: 24rem; vertical-align: top; }
.num { text-align: right; } thead th { border-bottom: 1px solid var(--soft); }
tbody th { font-weight: 500; }
.bad { color: var(--bad); font-weight: 600; } .changed { background: var(--changed); }
ul.problems { font-size: .86rem; padding-left: 1.1rem; margin: .3rem 0; }
@media (max-width: 30rem) { body { padding: 0 .7rem 3rem; } h1 { font-size: 1.5rem; } h2 { font-size: 1.25rem; }
  figure { padding: .6rem; } .plot text { font-size: 14px; } .plot .value { font-size: 13px; } }
@media print { nav, .skip { display: none; } figure { break-inside: avoid; } }
)";

}  // namespace concord::study
