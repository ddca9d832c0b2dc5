// Finds the regular expressions in TypeScript source.

/** What may stand before a value: where a slash begins an expression and divides nothing. */
const BEFORE_VALUE = new Set([..."(,=:[!&|?{};+-*%<>~^"]);
const KEYWORDS = /(?:^|[^\w$])(?:return|typeof|case|in|of|yield|await|void|throw|else|do)$/;

/** In order, as they are written: `/a+/g`. */
export function regularExpressions(source: string): readonly string[] {
  const found: string[] = [];
  const open: ("{" | "${")[] = []; // braces that are still to be closed: a template continues after its own
  let code = ""; // what was passed, without comments; a value stands for each text
  let at = 0;
  while (at < source.length) {
    const character = source.charAt(at);
    if (source.startsWith("//", at) || (at === 0 && source.startsWith("#!"))) at = endOf(source, "\n", at);
    else if (source.startsWith("/*", at)) at = endOf(source, "*/", at + 2);
    else if (character === '"' || character === "'") {
      at = afterQuoted(source, at + 1, character);
      code += "0";
    } else if (character === "`" || (character === "}" && open.at(-1) === "${")) {
      if (character === "}") open.pop();
      at = afterTemplate(source, at + 1);
      if (source.startsWith("${", at - 2)) open.push("${");
      code += source.startsWith("${", at - 2) ? "(" : "0";
    } else if (character === "/" && isBeforeValue(code)) {
      const end = afterExpression(source, at + 1);
      found.push(source.slice(at, end));
      code += "0";
      at = end;
    } else {
      if (character === "{") open.push("{");
      if (character === "}") open.pop();
      code += character;
      at += 1;
    }
  }
  return found;
}

function isBeforeValue(code: string): boolean {
  const passed = code.slice(-40).trimEnd();
  return passed === "" || BEFORE_VALUE.has(passed.slice(-1)) || KEYWORDS.test(passed);
}

function endOf(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found + mark.length;
}

function afterQuoted(source: string, from: number, quote: string): number {
  let at = from;
  while (at < source.length && source[at] !== quote) at += source[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** After the template's end, or after the `${` that interrupts it. */
function afterTemplate(source: string, from: number): number {
  let at = from;
  while (at < source.length && source[at] !== "`") {
    if (source.startsWith("${", at)) return at + 2;
    at += source[at] === "\\" ? 2 : 1;
  }
  return at + 1;
}

function afterExpression(source: string, from: number): number {
  let at = from;
  let inClass = false;
  while (source[at] !== "/" || inClass) {
    if (source[at] === "[") inClass = true;
    if (source[at] === "]") inClass = false;
    at += source[at] === "\\" ? 2 : 1;
  }
  at += 1;
  while (/[a-z]/.test(source.charAt(at))) at += 1;
  return at;
}
