// Of what decides about data, tests notice twenty changes that are drawn at random.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DECIDING, EQUIVALENT } from "./equivalent.ts";
import { mutationsOf } from "./mutations.ts";
import { tryMutations } from "./try-mutations.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const DRAWN = 20;

test(`${DRAWN} mutations, drawn at random, are noticed`, async () => {
  const all = DECIDING.flatMap((file) => mutationsOf(file, readFileSync(join(ROOT, file), "utf8")));
  const left = all.filter(({ file, text }) => EQUIVALENT[file]?.[text] === undefined);
  const drawn = Array.from({ length: DRAWN }, () =>
    left.splice(Math.floor(Math.random() * left.length), 1),
  ).flat();

  const verdicts = await tryMutations(ROOT, drawn);

  const told = [...verdicts].map(([{ file, line, text }, verdict]) => `${verdict}  ${file}:${line}  ${text}`);
  console.log(told.join("\n"));
  expect(told.filter((line) => /^(?:SURVIVED|UNTESTED)/.test(line))).toEqual([]);
}, 1_200_000);
