// What Vega exports and its own declarations lack.

declare module "vega" {
  /** How wide a text is: measured with a canvas where there is one, else estimated. */
  export const textMetrics: { canvas(use: boolean): void };
}
