// What the manifests of publications say: how many listed events are left out, and which fields of events are new, gone or
// of other types.

import { undefinedIfDamaged } from "../../../../lambdas/job/errors/sync-error.ts";
import { countText, missingText } from "../../../../lambdas/job/run/record/texts.ts";
import {
  type FieldChanges,
  fieldChanges,
  toldChanges,
  typeText,
} from "../../../../lambdas/job/snapshot/fields/field-changes.ts";
import { type Manifest, readManifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import type { Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import type { AccountStore } from "../../../../lambdas/job/storage/store.ts";
import { plural } from "../../output/words.ts";
import { type Figure, instantCell, table } from "../page/figure.ts";

/** Each takes a read of a manifest, which may be large. */
const MOST = 60;

/** @param publications oldest first, up to the head */
export async function manifestFigures(
  store: AccountStore,
  publications: readonly Publication[],
): Promise<readonly Figure[]> {
  // Undefined where retention has deleted it, or it is damaged: `check` reports damage.
  const manifestOf = (id: string): Promise<Manifest | undefined> =>
    readManifest(store, id).catch(undefinedIfDamaged);
  const compared: ChangedFields[] = [];
  let before: Manifest | undefined;
  let after: Manifest | undefined;
  for (const { base_snapshot_id: base, snapshot_id, published_at } of publications.slice(-MOST)) {
    if (base === null) before = undefined;
    else before = after?.snapshot_id === base ? after : await manifestOf(base);
    after = await manifestOf(snapshot_id);
    if (before && after) compared.push({ published_at, ...fieldChanges(before, after) });
  }
  return [
    ...(after ? [leftOutFigure(after.counts, before?.counts)] : []),
    ...(compared.length > 0 ? [fieldsFigure(compared, after?.fields.length)] : []),
  ];
}

type Counts = Manifest["counts"];

/** @param before of the snapshot that the head is compared with; undefined where that is gone */
function leftOutFigure(now: Counts, before: Counts | undefined): Figure {
  const earlier = before ? `; ${countText(before.listed - before.events)} in the snapshot before` : "";
  const missing = missingText(now);
  return {
    finding: missing === "" ? `All ${countText(now.listed)} listed events have details` : missing + earlier,
  };
}

/** The changes from the snapshot before a publication to its own. */
interface ChangedFields extends FieldChanges {
  readonly published_at: string;
}

const MOST_ROWS = 200;

/**
 * @param compared one for each publication that could be compared with the one before
 * @param fields of the head; undefined where its manifest cannot be read
 */
function fieldsFigure(compared: readonly ChangedFields[], fields: number | undefined): Figure {
  const rows = compared.toReversed().flatMap(rowsOf);
  const more = rows.length - MOST_ROWS;
  const kinds = [
    [compared.flatMap(({ added }) => added), "new"],
    [compared.flatMap(({ gone }) => gone), "gone"],
    [compared.flatMap(({ retyped }) => retyped), "with another type"],
  ] as const;
  const parts = kinds.flatMap(([{ length }, what]) => (length > 0 ? [`${countText(length)} ${what}`] : []));
  const where =
    compared.length === 1
      ? "in the last publication"
      : `in the last ${countText(compared.length)} publications`;
  if (parts.length === 0) return { finding: `No field is new, gone or of another type ${where}` };
  return {
    finding: `Fields ${where}: ${parts.join(", ")}`,
    description: `${fields === undefined ? "Fields" : `The events have ${plural(fields, "field")}, which`} are compared between publications; names that look like data are not repeated.${more > 0 ? ` ${countText(more)} more changes are not shown.` : ""}`,
    table: table("Changed fields", rows.slice(0, MOST_ROWS), [
      ["published, UTC", ([instant]) => instant],
      ["what", ([, what]) => what],
      ["field", ([, , field]) => field, "long"],
      ["type", ([, , , type]) => type],
    ]),
  };
}

type FieldRow = readonly [instant: string, what: string, field: string, type: string];

function rowsOf({ published_at, ...changes }: ChangedFields): readonly FieldRow[] {
  const { added, gone, retyped } = toldChanges(changes);
  const kinds = [["gone", gone] as const, ["type", retyped] as const, ["new", added] as const];
  return kinds
    .flatMap(([what, fields]) => fields.map((field) => ({ what, ...field })))
    .sort((a, b) => b.count - a.count)
    .map(({ what, times, pointer, ...field }) => {
      const all = times === 1 ? "" : `, ${countText(times)} fields`;
      return [instantCell(published_at), what + all, pointer, typeText(field)];
    });
}
