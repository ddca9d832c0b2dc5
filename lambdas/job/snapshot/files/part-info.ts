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

/** A part as it lies in the store. The same rows may be compressed to other bytes. */
export interface StoredFile {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export interface WrittenPart extends PartInfo {
  readonly stored: StoredFile;
}
