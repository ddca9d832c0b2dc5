// Every package that `npm run setup:emulator` installs is pinned by hash.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { REQUIREMENTS } from "./emulator-process.ts";

/** One text for each requirement: lines that end in a backslash continue. */
const requirements = readFileSync(REQUIREMENTS, "utf8")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

test.each(requirements.map((line) => [line.split(" ", 1)[0], line]))("%s has hashes", (_, line) => {
  expect(line).toMatch(
    /^[\w.-]+(?:\[[\w,]+\])?==[\w.]+(?: ; sys_platform == '\w+')?(?: +--hash=sha256:[0-9a-f]{64})+$/,
  );
});

test("the emulator itself is among them", () => {
  expect(requirements.filter((line) => line.startsWith("moto["))).toHaveLength(1);
});
