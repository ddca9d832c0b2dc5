// The page that the person sees at the end, in the browser: what happened, and what to do next.

import { createHash } from "node:crypto";

export interface PageText {
  readonly kind: "done" | "failed";
  readonly title: string;
  readonly paragraphs: readonly string[];
}

const STYLE = `
:root { color-scheme: light dark; --paper: #f6f7f9; --card: #fff; --text: #1b1f24; --quiet: #57606a; --edge: #d0d7de; --mark: #1a7f37; }
.failed { --mark: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0d1117; --card: #161b22; --text: #e6edf3; --quiet: #9da7b3; --edge: #30363d; --mark: #3fb950; }
  .failed { --mark: #ff7b72; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--paper); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 34rem; padding: 1.5rem; background: var(--card); border: 1px solid var(--edge); border-top: 4px solid var(--mark); border-radius: .5rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.3; color: var(--mark); }
p { margin: .75rem 0 0; }
.program { margin: 0 0 .5rem; color: var(--quiet); font-size: .875rem; }
`;

/** Nothing is loaded and nothing runs: the one style sheet is allowed by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Of every response of the listener. */
export const SAFE_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

export function resultPage({ kind, title, paragraphs }: PageText): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body class="${kind}">
<main>
<p class="program">brand-events-sync</p>
<h1>${escaped(title)}</h1>
${paragraphs.map((text) => `<p>${escaped(text)}</p>`).join("\n")}
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
