// The catalog follows the log: Glue, which has no condition, and `views.sql`, which has.

import type { Defect } from "./defects.ts";
import { changeGlue, look, type Memory, type Program, perform, readEnd, readLogSince } from "./step.ts";
import { type Head, put } from "./world.ts";

export type CatalogKind = "Glue" | "views.sql";

/** @param when tells the refreshes of one program apart */
export function* refreshCatalog(
  when: "at the start" | "after the commit",
  kind: CatalogKind,
  memory: Memory,
  has: (defect: Defect) => boolean,
): Program<void> {
  memory.keep("refreshes", when);
  if (kind === "Glue") yield* refreshGlue(memory, has);
  else yield* refreshViews(memory, has);
  memory.forget("refreshes");
}

function* refreshGlue(memory: Memory, has: (defect: Defect) => boolean): Program<void> {
  let refreshed = 0;
  for (;;) {
    const { last, head, removal } = yield* readEnd(has);
    memory.forget("refreshed");
    if (last === refreshed || (head === undefined && removal === undefined)) return;
    if (head) yield* moveTo(head, memory, has);
    if (removal && !has("refresh blind to a removal")) yield* takeOut(removal, memory);
    refreshed = memory.keep("refreshed", last);
    if (has("head not read again")) break;
  }
  memory.forget("refreshed");
}

/** `events` is moved last: what it names is then there in the other two tables as well. */
export function* moveTo(head: Head, memory: Memory, has: (defect: Defect) => boolean): Program<void> {
  memory.keep("moves to", head);
  const shown = memory.keep(
    "shown",
    yield* look("Glue: finds the partition of events", ({ glue }) => glue.events),
  );
  const since = memory.keep("since shown", yield* readLogSince(shown?.publication ?? 0, has));
  if (since.removal && !has("refresh blind to a removal")) yield* takeOut(since.removal, memory);
  const behind = memory.keep("behind", has("only the head in the catalog") ? [head] : since.publications);
  memory.forget("since shown");
  if (has("events first")) yield* moveEvents(head);
  if (behind.length > 0) {
    yield* changeGlue(`adds the changes of ${behind.map(({ publication }) => publication)}`, (glue) => ({
      ...glue,
      changes: behind.reduce(
        (all, { publication, snapshot }) => put(all, publication, snapshot),
        glue.changes,
      ),
    }));
    yield* changeGlue(`adds the snapshots ${behind.map(({ snapshot }) => snapshot)}`, (glue) => ({
      ...glue,
      snapshots: [...new Set([...glue.snapshots, ...behind.map(({ snapshot }) => snapshot)])].sort(),
    }));
  }
  memory.forget("behind");
  if (shown?.publication !== head.publication) yield* moveEvents(head);
  memory.forget("shown", "moves to");
}

/** `events` first, whose rows readers look at. Only what lies below the removal. */
function* takeOut({ publication, snapshot: name }: Head, memory: Memory): Program<void> {
  memory.keep("takes out", publication);
  yield* changeGlue("takes the account out of events", (glue) => ({
    ...glue,
    events: glue.events && glue.events.publication < publication ? null : glue.events,
  }));
  yield* changeGlue("takes it out of the other tables", (glue) => ({
    ...glue,
    snapshots: glue.snapshots.filter((snapshot) => snapshot > name),
    changes: Object.fromEntries(Object.entries(glue.changes).filter(([each]) => Number(each) > publication)),
  }));
  memory.forget("takes out");
}

function moveEvents({ snapshot, publication }: Head): Program<boolean> {
  return changeGlue(`events shows ${publication}`, (glue) => ({
    ...glue,
    events: { snapshot, publication },
  }));
}

function* refreshViews(memory: Memory, has: (defect: Defect) => boolean): Program<void> {
  for (;;) {
    const current = memory.keep("current", yield* look("reads views.sql", ({ views }) => views));
    const { last, removal } = yield* readEnd(has);
    if (removal && has("refresh blind to a removal")) break;
    const shown = removal && has("removal not named in views.sql") ? 0 : last;
    memory.keep("renders", shown);
    if (shown === current) break;
    const isBlind = has("views replaced without condition");
    const replaced = yield* perform({
      name: `replaces views.sql by ${shown}`,
      apply: (world) =>
        world.views === current || isBlind
          ? { world: { ...world, views: shown }, result: true }
          : { world, result: false },
      lost: false,
    });
    if (replaced) break;
  }
  memory.forget("current", "renders");
}
