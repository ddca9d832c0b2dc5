// PLAN: lists the events, and freezes the work. The first details are requested meanwhile.

import { createPlan, type Plan } from "../../snapshot/staging/plan.ts";
import { layout } from "../../storage/layout.ts";
import { fingerprint } from "../fingerprint.ts";
import { countText } from "../record/count-text.ts";
import type { CountingService } from "../run-ports.ts";
import type { RunSession } from "../run-session.ts";
import type { EstimateNotice } from "./estimate-notice.ts";
import { type DetailService, FirstDetails } from "./first-details.ts";
import { type ReadList, readList } from "./read-list.ts";

/** Where details come from, and what says how long that takes. */
export interface DetailSource<Service = DetailService> {
  readonly service: Service;
  readonly notice: EstimateNotice;
}

/** Dispose of `first`. The list itself, which takes memory, is not needed any more. */
export async function listAndPlan(
  session: RunSession,
  { service, notice }: DetailSource<CountingService>,
): Promise<{ readonly plan: Plan; readonly first: FirstDetails }> {
  const { signal, timeLeftMs } = session.ports;
  const list = await listEvents(session, service);
  const { events } = list;
  notice.begin(events.length); // before the first of them is requested: what is sent counts in the budget
  // A process with a time limit may stop before the first shard, and would have spent their budget for nothing.
  const concurrency = timeLeftMs === undefined ? session.settings.concurrency : 0;
  const first = new FirstDetails({ service, events, concurrency, signal });
  try {
    return { plan: await makePlan(session, list), first };
  } catch (error) {
    await first[Symbol.asyncDispose]();
    throw error;
  }
}

async function listEvents(session: RunSession, service: CountingService): Promise<ReadList> {
  const { ports, state } = session;
  const list = await readList(session, service);
  const { rejected, repeated } = list;
  const listed = list.events.length + rejected;
  state.counts = { ...state.counts, listed, repeated };
  ports.logger.info(`${countText(listed)} events are listed`, { listed, rejected, repeated });
  return list;
}

/** Freezes the work. A plan that another process of this run wrote first is used as it is. */
function makePlan({ ports, settings, state }: RunSession, list: ReadList): Promise<Plan> {
  const { store, clock } = ports;
  return createPlan(store, layout.plan(settings.account, state.runId), {
    run_id: state.runId,
    account: settings.account,
    fingerprint: fingerprint(settings),
    created_at: new Date(clock.now()).toISOString(),
    shard_size: settings.shardSize,
    rejected: list.rejected,
    repeated: list.repeated,
    readings: list.readings,
    unstable: list.unstable,
    events: list.events,
  });
}
