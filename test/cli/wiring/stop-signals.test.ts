import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { stopSignals } from "../../../bin/cli/wiring/this-process.ts";

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"])("%s aborts as INTERRUPTED and names the signal", (name) => {
  const process = new FakeProcess();
  const signal = stopSignals({ process, elapsedMs: () => 0 });

  process.emit(name);

  expect(signal.reason).toMatchObject({ code: "INTERRUPTED", message: expect.stringContaining(name) });
  expect(process.exits).toEqual([]);
});

test.each([
  { first: "SIGINT", second: "SIGINT", afterMs: 20, does: "nothing more: npm passes Ctrl-C on", exits: [] },
  { first: "SIGTERM", second: "SIGHUP", afterMs: 5_000, does: "nothing more: no person asks", exits: [] },
  { first: "SIGINT", second: "SIGINT", afterMs: 500, does: "ends the process at once", exits: [130] },
  { first: "SIGHUP", second: "SIGTERM", afterMs: 5_000, does: "ends the process at once", exits: [130] },
])("$second $afterMs ms after $first does $does", ({ first, second, afterMs, exits }) => {
  const process = new FakeProcess();
  let elapsedMs = 7;
  stopSignals({ process, elapsedMs: () => elapsedMs });

  process.emit(first);
  elapsedMs += afterMs;
  process.emit(second);

  expect(process.exits).toEqual(exits);
});
