// Tests of the harness: it fails where Lambda would.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { LambdaFunction, payload } from "./lambda-function.ts";

const TOY = `
let calls = 0;
export async function handler(event, context) {
  calls += 1;
  if (event.fail >= calls) throw Object.assign(new Error("no " + calls), { name: "TOY_FAILED" });
  if (event.hang) await new Promise((resolve) => setTimeout(resolve, 60_000));
  if (event.exit) process.exit(3);
  if (event.sleepMs) await new Promise((resolve) => setTimeout(resolve, event.sleepMs));
  console.log(JSON.stringify({ said: event.say }));
  return {
    calls,
    pid: process.pid,
    requestId: context.awsRequestId,
    leftMs: context.getRemainingTimeInMillis(),
    variables: Object.keys(process.env).filter((name) => !name.startsWith("AWS_LAMBDA_")),
    memoryMb: Math.round(process.getBuiltinModule("node:v8").getHeapStatistics().heap_size_limit / 2 ** 20),
  };
}
`;

class Toy implements AsyncDisposable {
  readonly function: LambdaFunction;
  readonly #directory: string;

  private constructor(directory: string, handler: string) {
    this.#directory = directory;
    this.function = new LambdaFunction({
      name: "toy",
      directory,
      handler,
      environment: { OWN: "1" },
      memoryMb: 256,
      timeoutMs: 10_000,
    });
  }

  static async start(handler = "index.handler", source = TOY): Promise<Toy> {
    const directory = await mkdtemp(join(tmpdir(), "brand-events-toy-"));
    await writeFile(join(directory, "index.mjs"), source);
    return new Toy(directory, handler);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.function[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true });
  }
}

test("an invocation gets its event, request id, time and the function's environment, and no other", async () => {
  await using toy = await Toy.start();

  const result = await toy.function.invoke({ say: "hello" }, { requestId: "one" });

  expect(result).toMatchObject({ ok: true, payload: { calls: 1, requestId: "one" } });
  const { variables, leftMs, memoryMb } = payload(result);
  expect(variables).toEqual(expect.arrayContaining(["OWN", "_HANDLER", "LAMBDA_TASK_ROOT", "TZ"]));
  expect(variables).not.toContain("PATH");
  expect(leftMs).toBeGreaterThan(9_000);
  expect(leftMs).toBeLessThanOrEqual(10_000);
  expect(memoryMb).toBeLessThan(500);
  // The process writes it before it responds, but on another way.
  await vi.waitFor(() => expect(toy.function.lines).toContain('{"said":"hello"}'), 10_000);
});

test("a process is reused, and a concurrent invocation gets a second one", async () => {
  await using toy = await Toy.start();

  const [first, second] = await Promise.all([
    toy.function.invoke({ sleepMs: 300 }),
    toy.function.invoke({ sleepMs: 300 }),
  ]);
  const third = await toy.function.invoke({});

  const pids = [first, second, third].map((result) => payload(result)["pid"]);
  expect(pids[0]).not.toBe(pids[1]);
  expect(pids.slice(0, 2)).toContain(pids[2]);
});

test("an error comes back with its name and message", async () => {
  await using toy = await Toy.start();

  const result = await toy.function.invoke({ fail: 1 });

  expect(result).toEqual({ ok: false, errorType: "TOY_FAILED", errorMessage: "no 1" });
});

test("an asynchronous invocation is retried twice with the same request id, and not after a success", async () => {
  await using toy = await Toy.start();

  const failed = await toy.function.deliver({ fail: 3 }, { retryDelaysMs: [1, 1] });
  const mended = await toy.function.deliver({ fail: 4 }, { retryDelaysMs: [1, 1] });

  expect(failed.map(({ ok }) => ok)).toEqual([false, false, false]);
  expect(mended.map(({ ok }) => ok)).toEqual([false, true]);
});

test("an invocation that takes too long is ended and reported, and the next one gets a new process", async () => {
  await using toy = await Toy.start();

  const before = payload(await toy.function.invoke({}));
  const result = await toy.function.invoke({ hang: true }, { timeoutMs: 200 });
  const after = payload(await toy.function.invoke({}));

  expect(result).toMatchObject({ ok: false, errorType: "Sandbox.Timedout" });
  expect(after["pid"]).not.toBe(before["pid"]);
  expect(after["calls"]).toBe(1);
});

test.each([
  { what: "a process that ends", event: { exit: true }, handler: "index.handler", type: "Runtime.ExitError" },
  { what: "a handler that is not there", event: {}, handler: "index.other", type: "TypeError" },
])("$what is an error", async ({ event, handler, type }) => {
  await using toy = await Toy.start(handler);

  const result = await toy.function.invoke(event);

  expect(result).toMatchObject({ ok: false, errorType: type });
});
