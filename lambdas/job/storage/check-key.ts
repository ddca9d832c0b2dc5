// Which keys a store takes: relative, `/`-separated, with no segment that a file system would read in a special way.

const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** Throws for a key that is not one of `layout`'s making: a mistake in the program, not in the data. */
export function checkKey(key: string): void {
  if (!key.split("/").every((segment) => SEGMENT.test(segment))) {
    throw new TypeError(
      `A store key is segments of letters, digits, ".", "_" and "-" joined by "/", none of which is empty or starts with "." or "-"; got ${JSON.stringify(key)}`,
    );
  }
}
