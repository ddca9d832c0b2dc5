// Which folders of a warehouse were verified, and how their files looked then: so that no query does it again.

import { constants } from "node:fs";
import { appendFile, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { newModes } from "../../../lambdas/job/storage/directory/directory-store.ts";

/** The dot keeps it out of every listing of the warehouse. */
const RECORD = ".verified.ndjson";

/** Behind a link there is another file than this one. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

const LINE = z.object({ folder: z.string(), files: z.string() });

/**
 * It only saves time. What cannot be read from it is verified again; where it cannot be written, the next query
 * verifies again. Lines are appended, so that queries at the same time lose nothing of one another.
 */
export class VerifiedFolders {
  readonly #directory: string;
  readonly #filesOf: Map<string, string>;

  private constructor(directory: string, filesOf: Map<string, string>) {
    this.#directory = directory;
    this.#filesOf = filesOf;
  }

  static async open(directory: string): Promise<VerifiedFolders> {
    const text = await readFile(join(directory, RECORD), "utf8").catch(() => "");
    const lines = text.split("\n").flatMap((line) => parse(line) ?? []);
    return new VerifiedFolders(directory, new Map(lines.map(({ folder, files }) => [folder, files])));
  }

  /** Runs `verify` unless the parts in the folder have the names, sizes and times that they had after it last did. */
  async once(folder: string, verify: () => Promise<unknown>): Promise<void> {
    // Looked at before they are read, so that a change in between is seen the next time.
    const files = await this.#look(folder);
    if (this.#filesOf.get(folder) === files) return;
    await verify();
    this.#filesOf.set(folder, files);
    const { file: mode } = await newModes(this.#directory);
    // The end of a line before it too: the last one may have been cut.
    const line = `\n${JSON.stringify({ folder, files })}\n`;
    await appendFile(join(this.#directory, RECORD), line, { mode, flag: APPEND }).catch(() => undefined);
  }

  async #look(folder: string): Promise<string> {
    const path = join(this.#directory, folder);
    const names = await readdir(path).catch(() => []);
    const looks: string[] = [];
    for (const name of names.filter((each) => each.startsWith("part-")).sort()) {
      const found = await stat(join(path, name), { bigint: true }).catch(() => undefined);
      looks.push(`${name} ${found?.size} ${found?.mtimeNs}`);
    }
    return looks.join(", ");
  }
}

function parse(line: string): z.infer<typeof LINE> | undefined {
  try {
    return LINE.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
