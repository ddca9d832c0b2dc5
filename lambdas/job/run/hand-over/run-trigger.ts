// `runs/<account>/<run_id>/hand-over.json`: what started a run that was handed over. The input of an execution does not
// say it, and the lease may be another run's by the time the execution is started again.

import * as z from "zod";
import { isDamage } from "../../errors/is-damage.ts";
import { readJson, writeJsonOnce } from "../../storage/json-object.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import { triggerSchema } from "../record/run-log.ts";

const schema = z.object({ trigger: triggerSchema });
type RunTrigger = z.infer<typeof schema>["trigger"];

/** The first hand-over of a run decides. */
export async function writeRunTrigger(
  store: Store,
  account: string,
  runId: string,
  trigger: RunTrigger,
): Promise<void> {
  await writeJsonOnce(store, layout.handOver(account, runId), { trigger });
}

/** `manual` where the file is missing or damaged: only the run log shows it. */
export async function readRunTrigger(store: Store, account: string, runId: string): Promise<RunTrigger> {
  try {
    return (await readJson(store, layout.handOver(account, runId), schema))?.trigger ?? "manual";
  } catch (error) {
    if (!isDamage(error)) throw error;
    return "manual";
  }
}
