// What a seed means, as data: the world at its beginning, and a list of things that happen in it. Each of them can be
// left out, which is how a failure is shrunk.

import type { Limit } from "../../../lambdas/job/settings/values.ts";
import type { ListOptions } from "../../simulator/list-endpoint.ts";

export interface Plan {
  readonly seed: number;
  readonly setting: Setting;
  readonly items: readonly Item[];
}

export interface Setting {
  /** Each has a service of its own; they share the warehouse. */
  readonly accounts: readonly [string, ...string[]];
  readonly warehouse: "directory" | "bucket";
  readonly method: "session" | "basic" | "oauth";
  /** Some processes are of a version that was frozen. */
  readonly hasTwoVersions: boolean;
  /** How many events the service has at first. */
  readonly events: number;
  readonly requestsPerMinute: Limit;
  readonly bytesPerMinute: Limit;
  /** Of the service, where it allows less than the settings say. */
  readonly stricterRequestsPerMinute: number | undefined;
  readonly concurrency: number;
  readonly rangeEvents: number;
  readonly retainDays: number | undefined;
  readonly maxDropPercent: number;
  readonly maxGrowthPercent: number | undefined;
  readonly maxMissingPercent: number;
  /** JSON Pointers into the detail. */
  readonly require: readonly string[];
  readonly pageSize: number | undefined;
  readonly paging: keyof typeof NEXT_PAGE;
  /** In which words pages say that another one follows, or how many there are: one of those that it may be said in. */
  readonly wording: number;
  /** What comes behind the last page. */
  readonly behindLast: ListOptions["behindLast"];
  /** The operator has set `nextPage` from the beginning, not only at the end. */
  readonly isPagingKnown: boolean;
  /** Each request for a page finds the list in another order, so its pages overlap, and miss events. */
  readonly isShuffled: boolean;
  readonly session: {
    readonly maxAgeMs: number | undefined;
    readonly maxRequests: number | undefined;
    readonly exclusive: boolean;
    /** How a request with a session that is over is answered. */
    readonly ends: 401 | 419 | 440 | "redirect";
    /** Its cookies say how long it lives, and then it is answered as a stranger: with a part of the events. */
    readonly isOpen: boolean;
  };
  /** So long after it was made, a session or an access token is answered with 401. */
  readonly knownAfterMs: number;
  readonly tokens: {
    readonly lifeMs: number;
    /** Each renewal gives another refresh token. */
    readonly rotates: boolean;
    /** For so long a spent refresh token gets the same answer again. */
    readonly graceMs: number;
  };
  /** The longest usual wait for store, catalog and service. */
  readonly latencyMs: number;
  /** In a bucket: what streams are uploaded in. Most are smaller than the largest. */
  readonly partBytes: number;
  /** How long reading Glue may show an older state. */
  readonly catalogLagMs: number;
  /** Of one invocation of the function. */
  readonly timeLimitMs: number;
  /** A run that stops early is handed over to a state machine. */
  readonly hasStateMachine: boolean;
  /** After so many another execution follows. */
  readonly maxTurns: number;
}

/** How a page says that another one follows, and the `nextPage` for it: links need none. */
export const NEXT_PAGE = {
  link: undefined,
  "body-link": undefined,
  cursor: "cursor={/meta/next_cursor}",
  page: "page={page}",
  offset: "offset={received}",
} as const;

export type Item = Start | ProcessFault | ClockFault | Change | Damage | Columns;

/** Somebody, or the schedule, starts a command. */
export interface Start {
  readonly kind: "start";
  readonly id: string;
  /** An account, or "all": one after the other. */
  readonly account: string;
  /** Since the beginning of the world. */
  readonly afterMs: number;
  /** The function is started again after a failure, twice; a schedule names the run. */
  readonly by: "schedule" | "function" | "laptop";
  readonly command: Command;
  /** A second delivery of the same trigger so much later. */
  readonly againAfterMs?: number;
}

export const startOf = (
  id: string,
  account: string,
  afterMs: number,
  command: Command,
  by: Start["by"] = "laptop",
): Start => ({ kind: "start", id, account, afterMs, by, command });

export type Command =
  | { readonly name: "run"; readonly fresh: boolean; readonly isDry: boolean; readonly overDamaged?: boolean }
  | { readonly name: "check"; readonly deep: boolean }
  | { readonly name: "discover" }
  /** `pick` chooses one of the snapshots that have files then: 0 is the newest. */
  | {
      readonly name: "accept";
      readonly pick: number;
      readonly force: boolean;
      readonly overDamaged?: boolean;
    }
  | {
      readonly name: "rollback";
      readonly pick: number;
      readonly pin: boolean;
      readonly overDamaged?: boolean;
    }
  | { readonly name: "retire"; readonly pick: number }
  | { readonly name: "remove" }
  /** Of one snapshot with another; without `b` with what readers see. */
  | { readonly name: "diff"; readonly a: number; readonly b: number | undefined };

export const COMMANDS = [
  "run",
  "check",
  "discover",
  "accept",
  "rollback",
  "retire",
  "remove",
  "diff",
] as const satisfies readonly Command["name"][];

export type Port = "store" | "catalog" | "service" | "any";

/** Something happens at the nth call of one process. */
export interface ProcessFault {
  readonly kind: "fault";
  readonly start: string;
  /** Its attempts are 0 to 2; the invocations of its execution come after them. */
  readonly attempt: number;
  readonly port: Port;
  /** Only calls that change what has this in its name. */
  readonly changing?: string;
  /** From 1, among those calls. */
  readonly nth: number;
  readonly fault: CallFault;
}

/** In the first process of a start. */
export const faultAt = (
  start: string,
  at: Pick<ProcessFault, "nth"> & Partial<Pick<ProcessFault, "port" | "changing">>,
  fault: CallFault,
): ProcessFault => ({ kind: "fault", start, attempt: 0, port: "any", ...at, fault });

export type CallFault =
  | { readonly kind: "kill"; readonly when: "before" | "after" }
  | { readonly kind: "pause"; readonly ms: number }
  | { readonly kind: "slow"; readonly ms: number }
  /** Nothing happened, and the caller is told. */
  | { readonly kind: "fail" }
  /** The call happened, and the caller is not told. */
  | { readonly kind: "lose" }
  /** S3 says that another request is under way (409). */
  | { readonly kind: "conflict" }
  /** Of the network or the service, from this call on for so many calls. */
  | { readonly kind: "answer"; readonly answer: WrongAnswer; readonly times: number };

export type WrongAnswer =
  | { readonly kind: "reset" | "lost" | "hang" | "truncated" | "cut" | "slow-body" }
  | { readonly kind: "html" | "wrong-uuid" | "redirect" | "foreign-encoding" | "oversize" }
  /** JSON without an event, or a 202, where details are asked for. */
  | { readonly kind: "odd"; readonly text: string; readonly status: 200 | 202 }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly retryAfter?: { readonly seconds: number; readonly isDate: boolean };
    };

/** The wall clock of the processes of one start is wrong. */
export interface ClockFault {
  readonly kind: "clock";
  readonly start: string;
  readonly offsetMs: number;
  readonly standsStill: boolean;
  readonly jump: { readonly afterMs: number; readonly byMs: number } | undefined;
}

/** A file of the warehouse, if there is one then. */
export interface Damage {
  readonly kind: "damage";
  readonly account: string;
  readonly afterMs: number;
  /** Its key has this; one of the last such files. */
  readonly where: string;
  /** "foreign": another file is put beside it. */
  readonly how: "cut" | "flip" | "missing" | "foreign";
  /** Without it the file stays as it is, until the faults stop or longer. */
  readonly restoredAfterMs: number | undefined;
}

/** The operator names other columns of the account's own. */
export interface Columns {
  readonly kind: "columns";
  readonly account: string;
  readonly afterMs: number;
  readonly lifted: readonly { readonly name: string; readonly pointer: string }[];
}

/** Something changes at the service. */
export interface Change {
  readonly kind: "change";
  /** At whose service. */
  readonly account: string;
  readonly afterMs: number;
  readonly change: ServiceChange;
}

export interface Gateway {
  /** Of all events, the same ones each time; with 1 none is answered. */
  readonly share: number;
  readonly status: 302 | 403 | 404 | 405 | 410 | 500 | 503;
  readonly retryAfterSeconds: number | undefined;
  /** The wait is said as a limit of which nothing remains. */
  readonly saysLimit?: boolean;
}

/** How one event is answered, for ever, while others are read. */
export type Odd = 302 | 405 | 500 | "nan";

export type ServiceChange =
  | { readonly kind: "add"; readonly events: number }
  | { readonly kind: "revise"; readonly share: number }
  | { readonly kind: "archive"; readonly share: number }
  | { readonly kind: "empty" }
  /** Listed, but its details are refused. */
  | { readonly kind: "refuse"; readonly share: number; readonly status: 403 | 404 | 410 }
  | { readonly kind: "admit" }
  /** Some event is answered so from now on. */
  | { readonly kind: "odd"; readonly answer: Odd }
  /** For so long something before the service refuses details that it has. */
  | ({ readonly kind: "gateway"; readonly forMs: number } & Gateway)
  | { readonly kind: "end-sessions" }
  /** The password is another one; the stored credentials follow after a while, or not before the end. */
  | { readonly kind: "password"; readonly storedAfterMs: number | undefined }
  | { readonly kind: "disable"; readonly forMs: number };
