/** A number of things as people read it, on every computer: `50,000`. */
export function countText(n: number): string {
  return n.toLocaleString("en-US");
}
