// What a call of the directory store, or of the file of the tokens, has written survives a power cut from the moment at
// which it returns; before that, readers find what was there, or the new content, whole.

import { basename } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { tokensText } from "../../lambdas/job/credentials/tokens/token-store.ts";
import { sampleTokens } from "../job/credentials/tokens/memory-token-store.ts";
import { Disk, type Files } from "./disk.ts";
import { type History, live, withoutSyncs } from "./recorded.ts";

/** Other work may have the processor. */
const PATIENT_MS = 60_000;

const textOf = (files: Files, path: string): string | undefined => {
  const bytes = files.get(path);
  return bytes && Buffer.from(bytes).toString();
};

/** What goes wrong if power does. `fileOf` says which file has which content once the program has reached that. */
function damage(
  { root, record }: History,
  fileOf: (reached: string) => readonly [path: string, content: string | undefined],
): readonly string[] {
  const disk = new Disk(root, record);
  const found = new Set<string>();
  const whole = new Set<string>();
  for (let line = disk.next(); line; line = disk.next()) {
    for (const [path, bytes] of disk.live()) whole.add(`${path}: ${Buffer.from(bytes)}`);
    for (const { files } of disk.states()) {
      for (const [path, bytes] of files) {
        const isOurs = !basename(path).startsWith(".");
        if (isOurs && !whole.has(`${path}: ${Buffer.from(bytes)}`)) found.add(`${path} is not whole`);
      }
      if (line.kind !== "reached") continue;
      const [path, content] = fileOf(line.what);
      if (textOf(files, path) !== content) found.add(`${line.what} is lost`);
    }
  }
  return [...found];
}

describe.each([
  [
    "the directory store",
    "calls",
    (reached: string) => {
      const [path = "", content] = reached.split(" has ");
      return [`warehouse/${path}`, content] as const;
    },
  ],
  [
    "the file of the tokens",
    "tokens",
    (reached: string) => ["tokens.json", tokensText(sampleTokens(reached))] as const,
  ],
] as const)("%s", (_, name, fileOf) => {
  let history: History;

  beforeAll(() => {
    history = live(name);
  }, PATIENT_MS);

  it("keeps what a call has written when it returns, and shows no half of it before [D19]", () => {
    const calls = history.record.filter(({ kind }) => kind === "reached");

    expect(calls.length).toBeGreaterThan(2);
    expect(damage(history, fileOf)).toEqual([]);
  });

  it.each(["file", "folder"] as const)("would lose it if no %s was synced", (of) => {
    expect(damage(withoutSyncs(history, of), fileOf)).not.toEqual([]);
  });
});
