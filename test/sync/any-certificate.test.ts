// The function in an environment in which Node.js accepts any certificate. Apart from its other tests: while sources are
// mutated, a process of its own lacks what their runner brings.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const HANDLER = new URL("../../lambdas/sync/handler.ts", import.meta.url).href;

test("an invocation ends with CONFIG_INVALID before any request", () => {
  const program = `
    const { handler } = await import(${JSON.stringify(HANDLER)});
    const context = { getRemainingTimeInMillis: () => 60_000, invokedFunctionArn: "arn", functionName: "f" };
    const error = await handler({ account: "uk" }, context).catch((reason) => reason);
    console.log(error.name, error.message);
  `;
  const args = ["--input-type=module", "--eval", program];
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", AWS_REGION: "eu-central-1" };

  const said = execFileSync(process.execPath, args, { env, stdio: "pipe" }).toString();

  expect(said).toMatch(/^CONFIG_INVALID .* NODE_TLS_REJECT_UNAUTHORIZED is 0: .* set NODE_EXTRA_CA_CERTS/);
});
