// The secrets that a client sends and gets, and its messages without them: a service may echo what it was sent, in an
// address or as a key of its JSON.

import type { ServiceCredentials } from "../credentials/credentials.ts";
import { type ErrorFields, SyncError } from "../errors/sync-error.ts";
import type { LogFields, Logger } from "../runtime/logger.ts";
import type { Detail } from "./event-service.ts";
import type { Transport, TransportRequest } from "./http/transport.ts";

/** A shorter one would be found in any text. */
const MIN_CHARS = 6;
/** Tokens and cookies, the newest: some services set another cookie with each response. */
const MAX_PASSING = 50;
/** A cookie may hold a word, such as `accepted`, that messages use as well. */
const WORD = /^[a-z_-]{0,15}$/i;
const SHOWN = "<secret>";
/** Of a request to the identity provider (RFC 6749 §4.1.3 and §6). */
const FORM_SECRETS = ["client_secret", "refresh_token", "code", "code_verifier"];

export class KnownSecrets {
  readonly #lasting = new Set<string>();
  readonly #passing = new Set<string>();
  /** All of them as they are in a text of JSON, and raw; undefined until an event asks. */
  #needles: readonly string[] | undefined;
  #lastAuthorization: string | undefined;

  /** The e-mail address is not a secret, but no message may show it either. */
  know<Known extends ServiceCredentials>(credentials: Known): Known {
    const { method } = credentials;
    const known =
      method === "oauth" ? [credentials.client_secret] : [credentials.password, credentials.email];
    for (const secret of known) if (secret.length >= MIN_CHARS) this.#lasting.add(secret);
    this.#needles = undefined;
    return credentials;
  }

  /** The same transport. What it sends and gets as tokens and cookies is known from then on. */
  watching(transport: Transport): Transport {
    return {
      send: async (request, signal) => {
        this.#sent(request);
        const response = await transport.send(request, signal);
        for (const setCookie of response.headers.get("set-cookie") ?? []) {
          const [, value = ""] = /^[^=;]*=\s*"?([^;"]*)/.exec(setCookie) ?? [];
          if (!WORD.test(value)) this.#pass(value.trim());
        }
        return response;
      },
      close: () => transport.close(),
    };
  }

  #sent({ headers, body = "" }: TransportRequest): void {
    const { authorization } = headers;
    if (authorization !== undefined && authorization !== this.#lastAuthorization) {
      this.#lastAuthorization = authorization;
      this.#pass(authorization.slice(authorization.indexOf(" ") + 1));
    }
    if (headers["content-type"]?.startsWith("application/x-www-form-urlencoded") !== true) return;
    const form = new URLSearchParams(body);
    for (const name of FORM_SECRETS) this.#pass(form.get(name) ?? "");
  }

  #pass(secret: string): void {
    if (secret.length < MIN_CHARS) return;
    this.#passing.delete(secret);
    this.#passing.add(secret);
    const [oldest] = this.#passing;
    if (oldest !== undefined && this.#passing.size > MAX_PASSING) this.#passing.delete(oldest);
    this.#needles = undefined;
  }

  masked(text: string): string {
    const plain = plainForm(text);
    const encoded = text.toLowerCase().replaceAll("-", "+").replaceAll("_", "/");
    // Most texts hold none, and to compile the pattern of all takes tens of milliseconds.
    const held = this.#all.filter(
      (secret) =>
        plain.includes(plainForm(secret)) ||
        [0, 1, 2].some((offset) => encoded.includes(base64At(secret, offset).toLowerCase())),
    );
    return held.length === 0 ? text : text.replaceAll(anyOf(held), SHOWN);
  }

  get #all(): readonly string[] {
    return [...this.#lasting, ...this.#passing];
  }

  /** The error itself where it has nothing to hide. */
  maskedError(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    const message = this.masked(error.message);
    const stack = error.stack && this.masked(error.stack);
    const cause = this.maskedError(error.cause);
    const fields = error instanceof SyncError ? this.#fields(error.fields) : {};
    const isClean = message === error.message && stack === error.stack && cause === error.cause;
    if (isClean && !(error instanceof SyncError && !isSame(fields, error.fields))) return error;
    const masked =
      error instanceof SyncError
        ? new SyncError(error.code, message, { fields, cause })
        : Object.assign(new Error(message, { cause }), { name: error.name });
    return Object.assign(masked, { stack });
  }

  /** What is logged, without secrets. */
  logger(logger: Logger): Logger {
    const line =
      (level: keyof Logger) =>
      (message: string, fields?: LogFields): void =>
        logger[level](this.masked(message), fields && this.#fields(fields));
    return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  }

  /** The row stays as it came. The names of its fields go into logs, manifests and the report. */
  nameless(detail: Detail): Detail {
    if (detail.kind !== "event") return detail;
    const { event, value } = detail;
    this.#needles ??= this.#all.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
    if (!this.#needles.some((needle) => event.includes(needle))) return detail;
    return { ...detail, value: renamed(value, (name) => this.masked(name)) };
  }

  #fields<Fields extends ErrorFields | LogFields>(fields: Fields): Fields;
  #fields(fields: LogFields): LogFields {
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        typeof value === "string" ? this.masked(value) : value,
      ]),
    );
  }
}

function isSame(one: LogFields, other: LogFields): boolean {
  return Object.entries(one).every(([name, value]) => other[name] === value);
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, rename));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [rename(name), renamed(each, rename)]),
  );
}

/** Matches each of them in the forms of `formsOf`, in any case: a host name comes back in lower case. */
function anyOf(secrets: readonly string[]): RegExp {
  const forms = secrets.toSorted((one, other) => other.length - one.length).flatMap(formsOf);
  return new RegExp(forms.join("|"), "giu");
}

/** The pattern of a longer secret is too large to be compiled: it is found by its beginning, and all up to a space goes. */
const MAX_CHARS = 500;

/** As it is, each character perhaps percent-encoded or escaped as JSON, also more than once; and within base64. */
function formsOf(secret: string): readonly string[] {
  const start = secret.slice(0, MAX_CHARS);
  const rest = secret.length > MAX_CHARS ? String.raw`\S*` : "";
  const encoded = [0, 1, 2].map((offset) =>
    base64At(start, offset).replaceAll("+", "[+-]").replaceAll("/", "[/_]"),
  );
  return [[...start].map(characterForms).join(""), ...encoded].map((form) => form + rest);
}

/** Without what `characterForms` allows: percent-encoding, escapes of JSON, capital letters. */
function plainForm(text: string): string {
  let plain = text;
  for (let before = ""; before !== plain; ) {
    before = plain;
    plain = plain
      .replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll("%", ""), "hex").toString())
      .replace(/(?:\\{1,3}u[0-9a-f]{4})+/gi, (units) =>
        units.replace(/\\+u(.{4})/g, (_, unit) => String.fromCharCode(Number.parseInt(unit, 16))),
      );
  }
  return plain.replaceAll("\\", "").replaceAll("+", " ").toLowerCase();
}

function characterForms(character: string): string {
  const bytes = [...Buffer.from(character, "utf8")].map((byte) => byte.toString(16).padStart(2, "0"));
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  const forms = [
    String.raw`\\{0,3}\u{${character.codePointAt(0)?.toString(16)}}`,
    bytes.map((byte) => `%(?:25){0,3}${byte}`).join(""),
    units.map((unit) => String.raw`\\{1,3}u${unit.toString(16).padStart(4, "0")}`).join(""),
    ...(character === " " ? [String.raw`\+`] : []),
  ];
  return `(?:${forms.join("|")})`;
}

/** What stays the same of its base64, wherever the secret begins in the encoded text. */
function base64At(secret: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret, "utf8")]);
  const from = Math.ceil((offset * 8) / 6);
  return bytes.toString("base64").slice(from, Math.floor((bytes.length * 8) / 6));
}
