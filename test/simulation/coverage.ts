// What histories have visited: where processes crashed, how they ended, and which of them worked at the same time.

import { ERROR_CODES } from "../../lambdas/job/errors/sync-error.ts";
import { COMMANDS } from "./plan/plan.ts";

type Kind = "call" | "crash" | "outcome" | "error" | "pair";

const OUTCOMES = ["PUBLISHED", "HELD", "SKIPPED", "SUPERSEDED", "HANDED_OVER", "DRY_RUN", "FAILED"];

/** Why the simulation cannot see it. */
const UNSEEN: Readonly<Record<string, string>> = {
  QUERY_FAILED: "no query is simulated",
  CREDENTIALS_INVALID: "the operator of a world always stores credentials of the right form",
  SNAPSHOT_INCOMPLETE: "only a defect of the program leads to it",
};

export class Coverage {
  readonly #seen: Readonly<Record<Kind, Map<string, number>>> = {
    call: new Map(),
    crash: new Map(),
    outcome: new Map(),
    error: new Map(),
    pair: new Map(),
  };

  note(kind: Kind, what: string, times = 1): void {
    const seen = this.#seen[kind];
    seen.set(what, (seen.get(what) ?? 0) + times);
  }

  /** A call that changes something; `isCrash` where the process died at it. */
  noteCall(what: string, isCrash: boolean): void {
    const point = what
      .replaceAll(/\d{4}-\d\d-\d\dT[\d.-]+Z/g, "ID")
      .replaceAll(/[0-9a-f]{32}/g, "TOKEN")
      .replaceAll(/\/uk(?:-2)?(?=\/)/g, "/ACCOUNT")
      .replaceAll(/\d+/g, "N");
    this.note(isCrash ? "crash" : "call", point);
  }

  notePair(one: string, other: string): void {
    this.note("pair", [one, other].sort().join(" + "));
  }

  add(other: Coverage): void {
    for (const kind of ["call", "crash", "outcome", "error", "pair"] as const) {
      for (const [what, times] of other.#seen[kind]) this.note(kind, what, times);
    }
  }

  summary(): string {
    const pairs = COMMANDS.flatMap((one, at) =>
      COMMANDS.slice(at).map((other) => [one, other].sort().join(" + ")),
    );
    return [
      ...this.#part("Crashes", "crash", [...this.#seen.call.keys()]),
      ...this.#part("Outcomes", "outcome", OUTCOMES),
      ...this.#part("Error codes", "error", ERROR_CODES),
      ...this.#part("Commands at the same time", "pair", pairs),
    ].join("\n");
  }

  #part(title: string, kind: Kind, all: readonly string[]): readonly string[] {
    const seen = [...this.#seen[kind]].toSorted(([, a], [, b]) => b - a);
    const unseen = all.filter((what) => !this.#seen[kind].has(what));
    return [
      `${title}: ${seen.length} of ${seen.length + unseen.length}`,
      ...seen.map(([what, times]) => `  ${String(times).padStart(8)}  ${what}`),
      ...unseen.map((what) => `     never  ${what}: ${UNSEEN[what] ?? "not in these histories"}`),
    ];
  }
}
