// The one function we use of fs-native-extensions, which ships no declarations.

declare module "fs-native-extensions" {
  /** Takes an exclusive lock on the open file; false while another open file holds it. Closing the file releases it. */
  export function tryLock(fd: number): boolean;
}
