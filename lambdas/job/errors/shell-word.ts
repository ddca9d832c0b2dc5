// One word of a command that a message tells people to run.

/** For a POSIX shell: inside single quotes only the quote itself has a meaning. */
export function shellWord(text: string): string {
  return /^[\w/=.:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
