// How an error shows a text that a person has given.

/** In quotes, without the user name and password of a URL. */
export function shownText(text: string): string {
  return JSON.stringify(withoutUserinfo(text));
}

/** Each word without what stands between `//` and the last `@` in it (RFC 3986 §3.2.1). */
export function withoutUserinfo(text: string): string {
  return text
    .split(" ")
    .map((word) => {
      const [from, to] = [word.indexOf("//"), word.lastIndexOf("@")];
      return from !== -1 && from < to ? `${word.slice(0, from)}//…${word.slice(to)}` : word;
    })
    .join(" ");
}
