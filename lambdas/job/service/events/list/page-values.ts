// What the values of members and headers may mean, where their names speak of pages, and the names of headers.

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function isBoolean(value: unknown): boolean {
  return typeof value === "boolean" || (typeof value === "string" && /^(?:true|false)$/i.test(value));
}

/** Whether it is so, also as a text and as a number. */
export function flagOf(value: unknown): boolean | undefined {
  if (isBoolean(value)) return /^true$/i.test(String(value));
  const number = countOf(value);
  return number === undefined ? undefined : number > 0;
}

/** A count, also as a text. By -1 services say that they do not know. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && Number(number) >= 0 ? Number(number) : undefined;
}

/** Of what names the next page: numbers below 1, also as texts, name none. */
export function isNothing(value: unknown): boolean {
  if (value === null || value === undefined || /^(?:false|null|-\d+|0*)$/i.test(String(value))) return true;
  return typeof value === "number" && value <= 0;
}

/** A date or a time of day, or seconds or milliseconds since 1970. */
export function isInstant(value: unknown): boolean {
  const number = countOf(value);
  if (number !== undefined) return (number >= 1e9 && number < 2e10) || (number >= 1e12 && number < 2e13);
  return (
    typeof value === "string" && /(?<!\d)(?:\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{1,2}:\d{2})(?!\d)/.test(value)
  );
}

/** Without `x-`, and without a maker's mark behind it (`x-wp-`, `x-ms-`): two letters that are no word. */
export function headerWords(name: string): string {
  return name.replace(/^x-(?:[b-df-hj-np-tv-xz]{2}-)?/, "");
}

/** What the parameter is probably called that takes the value of this member: `next_page_token` is `page_token`. */
export function parameterFor(text: string): string {
  const rest = text.replace(/^.*:|^[@$].*\./s, "").replace(/^next[_\-.]?(?=.)/i, "");
  if (/^next$/i.test(rest)) return "cursor";
  return /^token$/i.test(rest) ? text : rest.charAt(0).toLowerCase() + rest.slice(1);
}
