import { expect, test } from "vitest";
import { refusedNode } from "../../../bin/cli/start/start.ts";
import packageJson from "../../../package.json" with { type: "json" };

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
