import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { keepHeapSmall } from "../../../bin/cli/start/start.ts";
import packageJson from "../../../package.json" with { type: "json" };

const flagsAfter = (execArgv: readonly string[]): readonly string[] => {
  const flags: string[] = [];
  keepHeapSmall(execArgv, (flag) => flags.push(flag));
  return flags;
};

test.each([[[]], [["--enable-source-maps", "--max-old-space-size=500"]]])(
  "the heap is kept small with the arguments %j of Node.js",
  (execArgv) => {
    expect(flagsAfter(execArgv)).toEqual(["--heap-growing-percent=70", "--semi-space-growth-factor=1"]);
  },
);

test.each([[packageJson.scripts.sync.split(" ")], [["--max-semi-space-size=64"]]])(
  "arguments of Node.js that say how large the heap may be stay as they are: %j",
  (execArgv) => {
    expect(flagsAfter(execArgv)).toEqual([]);
  },
);

test("V8 knows the flags", () => {
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });

  expect(flagsAfter([]).filter((flag) => !known.includes(`${flag.split("=")[0]} (`))).toEqual([]);
});
