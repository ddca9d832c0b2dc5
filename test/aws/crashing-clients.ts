// Clients of AWS in a process that crashes: each call that changes something is an effect, and none follows the crash.

import type { CrashPoint } from "../job/run/crash.ts";
import type { AwsClients } from "./emulator.ts";

const READS = /^(Get|List|Head)/;

/** An effect is named by its call and by what it changes: `PutObject runs/uk/…`, `UpdatePartition events`. */
export function crashingClients(clients: AwsClients, point: CrashPoint, prefix: string): AwsClients {
  const { s3, glue } = clients;
  s3.middlewareStack.add(
    (next, { commandName = "" }) =>
      (args) => {
        const key = "Key" in args.input ? String(args.input.Key).slice(prefix.length) : "";
        const work = () => next(args);
        return READS.test(commandName) ? point.alive(work) : point.effect(named(commandName, key), work);
      },
    { step: "initialize" },
  );
  glue.middlewareStack.add(
    (next, { commandName = "" }) =>
      (args) => {
        const table = "TableName" in args.input ? String(args.input.TableName) : "";
        const work = () => next(args);
        return READS.test(commandName) ? point.alive(work) : point.effect(named(commandName, table), work);
      },
    { step: "initialize" },
  );
  return clients;
}

const named = (commandName: string, target: string): string =>
  `${commandName.replace(/Command$/, "")} ${target}`;
