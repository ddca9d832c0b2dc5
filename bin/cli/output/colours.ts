// The colour of an outcome at the beginning of a line, or after the instant of a run: nothing else has one.

const OUTCOME = /^((?: {2}\d{4}-\d\d-\d\d \d\d:\d\d UTC {2})?)(PUBLISHED|HELD|FAILED)\b/;

/** Numbers of ECMA-48's SGR: green, yellow, red. */
const COLOURS: Readonly<Record<string, number>> = { PUBLISHED: 32, HELD: 33, FAILED: 31 };

export function withColours(line: string): string {
  return line.replace(
    OUTCOME,
    (_, before: string, outcome: string) => `${before}\u001b[${COLOURS[outcome]}m${outcome}\u001b[0m`,
  );
}
