// Which fields of the events are new, gone, or have another type, and since when.

import { countText } from "../../../../lambdas/job/run/record/count-text.ts";
import { shownPointer, typesOf } from "../../../../lambdas/job/snapshot/fields/field-changes.ts";
import type { JsonType } from "../../../../lambdas/job/snapshot/fields/field-profile.ts";
import { minute } from "../../output/minute.ts";
import { plural } from "../../output/progress-text.ts";
import type { ChangedFields, FieldNews } from "../data/account-report.ts";
import type { Figure } from "../page/figure.ts";

const MOST_ROWS = 200;

/** Undefined where no publication can be compared with the one before. */
export function fieldsFigure({ changed, compared, fields }: FieldNews): Figure | undefined {
  if (compared === 0) return undefined;
  const rows = changed.toReversed().flatMap(rowsOf);
  const more = rows.length - MOST_ROWS;
  const inHow =
    compared === 1 ? "in the last publication" : `in the last ${countText(compared)} publications`;
  return {
    finding: findingOf(changed, inHow),
    description: `${fields === undefined ? "Fields" : `The events have ${plural(fields, "field")}, which`} are compared between publications; names that look like data are not repeated.${more > 0 ? ` ${countText(more)} more changes are not shown.` : ""}`,
    chart: undefined,
    table:
      rows.length === 0
        ? undefined
        : {
            label: "Changed fields",
            columns: [
              { title: "published, UTC" },
              { title: "what" },
              { title: "field", kind: "long" },
              { title: "type" },
            ],
            rows: rows.slice(0, MOST_ROWS),
          },
  };
}

function findingOf(changed: readonly ChangedFields[], inHow: string): string {
  const sum = (kind: "added" | "gone" | "retyped"): number =>
    changed.reduce((count, { changes }) => count + changes[kind].length, 0);
  const [added, gone, retyped] = [sum("added"), sum("gone"), sum("retyped")];
  const parts = [
    ...(added > 0 ? [`${countText(added)} new`] : []),
    ...(gone > 0 ? [`${countText(gone)} gone`] : []),
    ...(retyped > 0 ? [`${countText(retyped)} with another type`] : []),
  ];
  return parts.length === 0 ? `No field changed ${inHow}` : `Fields ${inHow}: ${parts.join(", ")}`;
}

function rowsOf({ publication, changes }: ChangedFields): readonly (readonly string[])[] {
  const instant = minute(Date.parse(publication.published_at)).replace(" UTC", "");
  const texts = (types: readonly JsonType[]): string => types.join(" or ");
  const rows = [
    ...changes.added.map((field) => ["new", shownPointer(field.pointer), texts(typesOf(field))]),
    ...changes.gone.map((field) => ["gone", shownPointer(field.pointer), texts(typesOf(field))]),
    ...changes.retyped.map(({ pointer, before, after }) => [
      "type",
      shownPointer(pointer),
      `${texts(before)} → ${texts(after)}`,
    ]),
  ];
  // Names that are not repeated make rows alike.
  const alike = Map.groupBy(rows, (row) => JSON.stringify(row));
  return [...alike.values()].map((same) => {
    const [what = "", field = "", type = ""] = same[0] ?? [];
    return [instant, same.length === 1 ? what : `${what}, ${countText(same.length)} times`, field, type];
  });
}
