// The settings and the ports of a run, where a test says nothing else.

import { randomUUID } from "node:crypto";
import type { HostPorts, RunPorts, WorldPorts } from "../../../lambdas/job/run/run-ports.ts";
import { type RunSettings, runSettings } from "../../../lambdas/job/run/run-settings.ts";
import type { EventService } from "../../../lambdas/job/service/event-service.ts";
import { accountSettings } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { wordsIn } from "../../../lambdas/words/hold.ts";
import { ANY_SHELL } from "../../../lambdas/words/style.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";
import { LogLines } from "../runtime/log-lines.ts";

/** The settings of an account that says no more than its address, and that its list is whole, without limits. */
export function settingsWith(changes: Partial<RunSettings> = {}): RunSettings {
  const unlimited = { requestsPerMinute: "unlimited", bytesPerMinute: "unlimited" } as const;
  const account = accountSettings.parse({
    baseUrl: "https://service.example",
    nextPage: "all",
    ...unlimited,
  });
  return { ...runSettings(account, []), ...changes };
}

export function worldWith<Own extends Partial<WorldPorts>>(own: Own): WorldPorts & Own {
  return {
    clock: new ManualClock(0),
    random: { next: () => 0.5, token: () => randomUUID() },
    logger: new LogLines(),
    version: "0.0.0",
    ...own,
  };
}

/** A process that may always exist still. */
export function hostWith(own: Partial<HostPorts> = {}): HostPorts {
  return { process: {}, isGone: () => false, signal: new AbortController().signal, ...own };
}

export function portsWith(
  own: Pick<RunPorts, "store" | "catalog" | "clock" | "openService"> & Partial<RunPorts>,
): RunPorts {
  return {
    ...hostWith(),
    onProgress: () => undefined,
    words: wordsIn(ANY_SHELL),
    ...worldWith(own),
  };
}

type Opened = Pick<RunPorts, "openService">;
type Limiter = Parameters<RunPorts["openService"]>[0];

/** The service of these ports, but for what a test changes of it. */
export function serviceWith(
  { openService }: Opened,
  change: (service: EventService, limiter: Limiter) => Partial<EventService>,
): Opened {
  return {
    openService: async (limiter) => {
      const service = await openService(limiter);
      const counts: PropertyDescriptor = { get: () => service.counts, enumerable: true };
      return Object.defineProperty({ ...service, ...change(service, limiter) }, "counts", counts);
    },
  };
}
