// The commands that decide on a held snapshot in AWS, and the inputs of the function that do the same in the console.

import { shellWord } from "../../job/errors/shell-word.ts";
import type { HeldCommands } from "../../job/run/compare/held-detail.ts";
import type { FunctionEnvironment } from "../environment.ts";

interface HeldInputs {
  readonly accept: object;
  readonly diff: object;
}

export function heldInputs(account: string, snapshotId: string): HeldInputs {
  return {
    accept: { action: "accept", account, snapshotId },
    diff: { action: "diff", account, snapshotId },
  };
}

/** They need a shell with credentials for the AWS account. */
export function heldCommands(
  { region, functionName }: Pick<FunctionEnvironment, "region" | "functionName">,
  account: string,
  snapshotId: string,
): HeldCommands {
  const command = (input: object): string =>
    [
      "aws lambda invoke",
      ...["--region", region, "--function-name", `${functionName}:live`].map(shellWord),
      "--cli-read-timeout 900 --cli-binary-format raw-in-base64-out",
      `--payload ${shellWord(JSON.stringify(input))} /dev/stdout`,
    ].join(" ");
  const { accept, diff } = heldInputs(account, snapshotId);
  return { accept: command(accept), diff: command(diff) };
}
