// Where a run posts how it ended. The whole URL is a secret: who has it may post there.

import * as z from "zod";
import { isLoopback } from "../network/proxies.ts";

/** The URL as text, as the parser writes it. No message shows the text. */
export const notifyUrl = z.string("expected an https: URL").transform((text, context) => {
  const url = URL.parse(text.trim());
  const problem = problemOf(url);
  if (url !== null && problem === undefined) return url.href;
  context.addIssue({
    code: "custom",
    message: problem ?? "expected an https: URL",
    params: { isShown: false },
  });
  return z.NEVER;
});

function problemOf(url: URL | null): string | undefined {
  if (url === null) return "expected an https: URL";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    return "expected an https: URL, or one with http: to this computer";
  if (url.username !== "" || url.password !== "") return "expected a URL without a user name and password";
  return url.hash === "" ? undefined : "expected a URL without a fragment";
}
