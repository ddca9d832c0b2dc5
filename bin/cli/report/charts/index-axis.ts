// The horizontal axis of what follows each other: evenly spaced, since clocks may be wrong, and labelled with instants.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** A label and the space beside it. */
const LABEL_WIDTH = 84;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The encoding of a place, which counts from 1. `isLabelled` false leaves the labels to the plot below. */
export function indexAxis(
  instantsMs: readonly number[],
  width: number,
  isLabelled = true,
): { readonly scale: object; readonly axis: object | null } {
  const scale = { domain: [0.5, instantsMs.length + 0.5], nice: false, zero: false };
  if (!isLabelled) return { scale, axis: null };
  const places = labelled(instantsMs.length, Math.floor(width / LABEL_WIDTH));
  const texts = labelTexts(places.map((place) => instantsMs[place - 1] ?? 0));
  const byPlace = Object.fromEntries(places.map((place, index) => [place, texts[index]]));
  const axis = { values: places, labelExpr: `(${JSON.stringify(byPlace)})[datum.value]`, labelFlush: 24 };
  return { scale, axis };
}

/** Every so many, the last among them. */
function labelled(count: number, most: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / Math.max(1, most)));
  const places = Array.from({ length: Math.ceil(count / step) }, (_, index) => count - index * step);
  return places.reverse();
}

/** Days; with times where all are of one day or two, with the year where it is another than before. */
function labelTexts(instantsMs: readonly number[]): readonly string[] {
  if (instantsMs.some(Number.isNaN)) return instantsMs.map((ms) => (Number.isNaN(ms) ? "unknown" : day(ms)));
  const [first = 0, last = 0] = [Math.min(...instantsMs), Math.max(...instantsMs)];
  if (last - first < DAY_MS) return instantsMs.map((ms) => `${day(ms)} ${time(ms)}`);
  const years = instantsMs.map((ms) => new Date(ms).getUTCFullYear());
  return instantsMs.map((ms, index) => {
    const isNewYear = index > 0 && years[index] !== years[index - 1];
    return isNewYear ? `${day(ms)} ${years[index]}` : day(ms);
  });
}

function day(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

function time(ms: number): string {
  return new Date(ms).toISOString().slice(11, 16);
}
