// What a part holds, as its manifest says.

export interface PartInfo {
  /** The file's name in its prefix. */
  readonly file: string;
  readonly rows: number;
  /** Uncompressed. */
  readonly bytes: number;
  /** Hexadecimal, of the uncompressed bytes. */
  readonly sha256: string;
}
