// What the log says of a snapshot that is made: which columns of one's own are empty in every row, or have a type that fits
// no value, because a pointer or a type is wrong.

import { parsePointer } from "../../json/json-pointers.ts";
import { shownPointer, typesOf } from "../../snapshot/fields/field-profile.ts";
import { type Manifest, readManifest } from "../../snapshot/files/manifest.ts";
import { rowsOf } from "../../snapshot/rows/compare-snapshots.ts";
import { fitsType, lifter } from "../../snapshot/rows/lifted-column.ts";
import type { AccountStore } from "../../storage/store.ts";
import { orWarn } from "../record/run-result.ts";
import { countText } from "../record/texts.ts";
import type { WarehousePorts, WorldPorts } from "../run-ports.ts";

type Column = Manifest["lifted"][number];

/** So many rows are looked at: they take about two seconds. */
const MAX_ROWS = 10_000;
const MAX_SHOWN = 5;

/**
 * Once: where the base has the column with the same pointer and type, an earlier run has said it.
 * @param base the snapshot that readers saw before; null for none
 */
export async function logEmptyColumns(
  { store, logger }: WorldPorts & WarehousePorts,
  manifest: Manifest,
  base: string | null,
): Promise<void> {
  const log = async (): Promise<void> => {
    const before = base === null ? [] : (await readManifest(store, base)).lifted;
    const isNew = ({ name, pointer, type }: Column): boolean =>
      !before.some((each) => each.name === name && each.pointer === pointer && each.type === type);
    const columns = manifest.lifted.filter(isNew);
    if (columns.length === 0 || manifest.parts.length === 0) return;
    for (const line of await emptyColumns(store, manifest, columns)) logger.warn(line);
  };
  await orWarn(logger, "the columns of your own could not be looked at", log());
}

async function emptyColumns(
  store: AccountStore,
  manifest: Manifest,
  columns: readonly Column[],
): Promise<readonly string[]> {
  const lift = lifter(columns);
  const open = new Map(columns.map((column) => [column, { filled: 0 }]));
  let rows = 0;
  for await (const { event } of rowsOf(store, manifest)) {
    const texts = lift(event);
    rows += 1;
    for (const [column, seen] of open) {
      const text = texts[column.name] ?? null;
      if (text === null) continue;
      seen.filled += 1;
      if (fitsType(text, column.type ?? "VARCHAR")) open.delete(column);
    }
    if (open.size === 0 || rows === MAX_ROWS) break;
  }
  const { events } = manifest.counts;
  const where = rows < events ? `the first ${countText(rows)} rows` : `all ${countText(events)} rows`;
  return [...open].map(([{ name, pointer, type }, { filled }]) => {
    const column = `the column ${name} (${pointer})`;
    return filled === 0
      ? `${column} is empty in ${where}; ${instead(manifest, name, pointer)}`
      : `${column} has ${countText(filled)} values in ${where}, and none fits the type ${type}: events_typed shows null. Name the column again with another type, or VARCHAR for none`;
  });
}

/** Pointers that may have been meant: fields of the same name first, then those that most events have. */
function instead({ fields }: Manifest, name: string, pointer: string): string {
  const meant = new Set([name, parsePointer(pointer).at(-1) ?? ""].map(plain));
  const scalar = fields.filter(
    (field) =>
      !parsePointer(field.pointer).includes("*") &&
      typesOf(field).some((type) => type !== "object" && type !== "array" && type !== "null"),
  );
  const alike = ({ pointer: at }: { readonly pointer: string }): number =>
    meant.has(plain(at)) || meant.has(plain(parsePointer(at).at(-1) ?? "")) ? 0 : 1;
  const nearest = scalar.toSorted((a, b) => alike(a) - alike(b) || b.count - a.count);
  const shown = nearest.slice(0, MAX_SHOWN).map((field) => shownPointer(field.pointer));
  const more = nearest.length > MAX_SHOWN ? ", …" : "";
  return `the events have ${shown.join(", ")}${more}. Name the column again with another pointer`;
}

const plain = (key: string): string => key.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
