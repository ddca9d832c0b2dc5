// How an error shows a text that a user entered.

/** In quotes, without the user name and password of a URL. */
export function shownText(text: string): string {
  return JSON.stringify(withoutUserinfo(text));
}

/** Drops from each word the text between `//` and the last `@` (RFC 3986 §3.2.1). */
export function withoutUserinfo(text: string): string {
  return text
    .split(" ")
    .map((word) => {
      const [from, to] = [word.indexOf("//"), word.lastIndexOf("@")];
      return from !== -1 && from < to ? `${word.slice(0, from)}//…${word.slice(to)}` : word;
    })
    .join(" ");
}

/** Of each web address only scheme and host: who has the path of a webhook may post there. */
export function onlyHosts(text: string): string {
  return withoutUserinfo(text).replaceAll(
    /(https?:\/\/[^\s/'"?#]+)([^\s'"]*)/gi,
    (_, host: string, rest: string) => (rest === "" || rest === "/" ? host : `${host}/…`),
  );
}
