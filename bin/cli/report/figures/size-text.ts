// A number of bytes as people read it: `1.2 MiB`.

import { sizeUnit } from "../charts/snapshots-chart.ts";

export function sizeText(bytes: number): string {
  const { name, bytes: unit } = sizeUnit(bytes);
  const size = bytes / unit;
  return `${unit === 1 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${name}`;
}
