// A number of things as people read it: `50,000`.

const format = new Intl.NumberFormat("en-US");

export function countText(n: number): string {
  return format.format(n);
}
