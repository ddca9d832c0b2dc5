// A number of things as people read it: `50,000`.

export function countText(n: number): string {
  return n.toLocaleString("en-US");
}
