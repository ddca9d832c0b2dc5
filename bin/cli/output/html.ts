// HTML in which every text is text: what is put into a template is escaped, unless it is HTML of a template itself.

import { createHash } from "node:crypto";
import { oneLine } from "./terminal.ts";

export class Html {
  readonly text: string;

  /** Only for what this program has made itself, such as a drawing. */
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[];

export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = strings.map((part, index) => part + textOf(values[index] ?? ""));
  return new Html(parts.join(""));
}

/** A Content-Security-Policy: nothing is loaded and nothing runs, the one style sheet is allowed by its hash. */
export function policyOf(styleSheet: string): string {
  const hash = createHash("sha256").update(styleSheet).digest("base64");
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
}

/** Also shows what would reorder a line or have no width, as a terminal's lines do. */
function escaped(text: string): string {
  return oneLine(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function textOf(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "string") return escaped(value);
  return typeof value === "number" ? String(value) : value.map(({ text }) => text).join("");
}
