import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { keepHeapSmall, refusedNode } from "../../bin/cli/start.ts";
import packageJson from "../../package.json" with { type: "json" };

test.each(["22.21.0", "22.22.3", "23.0.0", "24.1.0", "100.0.0"])("Node.js %s will do", (version) => {
  expect(refusedNode(version, "/usr/bin/node")).toBeUndefined();
});

test.each(["22.20.9", "22.9.0", "20.30.1", "4.99.0"])("Node.js %s is refused", (version) => {
  expect(refusedNode(version, "/usr/bin/node")).toBe(
    `brand-events-sync needs Node.js 22.21 or newer, and /usr/bin/node is ${version}: install a newer one from https://nodejs.org and start again.`,
  );
});

test("the package asks for the same", () => {
  expect(packageJson.engines.node).toBe(">=22.21");
});

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
