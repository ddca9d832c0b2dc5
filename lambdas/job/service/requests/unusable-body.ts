// What came in place of JSON: by what a response says of its body, and never with a text of it.

import { encodingsIn } from "../http/content-encoding.ts";
import type { HttpResponse } from "../http/transport.ts";
import { type AddressOption, peerOf } from "./connection-problem.ts";
import { NotJson, NotUtf8, UnusableBody } from "./failure.ts";

/**
 * Of a 2xx response whose body cannot be used.
 * @param otherwise where the response does not say more
 * @param addressOption what says where the request goes
 */
export function unusableBody(
  { status, headers, body, decodedBytes }: HttpResponse,
  otherwise: UnusableBody = new NotJson("a body that is not JSON"),
  addressOption: AddressOption = "--base-url",
): UnusableBody {
  const peer = peerOf(addressOption);
  const changed = `Look for a proxy between here and ${peer} that changes bodies. If there is none, ask the service's operator.`;
  const encoding = encodingName(headers);
  if (body.kind === "foreign") return new UnusableBody(`a body in ${encoding} (accepted: gzip, br)`, changed);
  if (body.kind === "broken") {
    return body.cause === "UNDECODABLE"
      ? new UnusableBody(`a body that says it is in ${encoding}, and is not`, changed)
      : new UnusableBody(
          `a body that broke off (${body.cause})`,
          `Check the network between here and ${peer}.`,
          { cutBy: body.cause },
        );
  }
  if (decodedBytes === 0)
    return new UnusableBody(status === 200 ? "an empty body" : `an empty body (status ${status})`);
  const type = headers.get("content-type")?.[0] ?? "";
  if (/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type)) return new UnusableBody("a web page");
  const charset = charsetIn(type);
  const isToBlame = otherwise instanceof NotUtf8 || charset?.startsWith("UTF-16");
  if (charset === undefined || !isToBlame) return otherwise;
  const utf8 = "JSON must be in UTF-8: ask the service's operator to send it so.";
  return new UnusableBody(`a body in ${charset}, as its Content-Type says`, utf8);
}

/** No other text of the header is repeated. */
const ENCODINGS: ReadonlySet<string> = new Set(["br", "compress", "deflate", "gzip", "x-gzip", "zstd"]);

function encodingName(headers: HttpResponse["headers"]): string {
  const names = encodingsIn(headers.get("content-encoding")?.join(",") ?? "");
  const areKnown = names.length > 0 && names.length <= 3 && names.every((name) => ENCODINGS.has(name));
  return areKnown ? `the content encoding ${names.join(", ")}` : "a content encoding that is not known";
}

/** A character set other than UTF-8, in capitals. Only what the Encoding Standard knows is repeated. */
function charsetIn(contentType: string): string | undefined {
  const [, label = ""] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})"?\s*(?:;|$)/i.exec(contentType) ?? [];
  try {
    return new TextDecoder(label).encoding === "utf-8" ? undefined : label.toUpperCase();
  } catch {
    return undefined;
  }
}
