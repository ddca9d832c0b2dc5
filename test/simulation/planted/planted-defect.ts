// A known defect: one small change of the job, which the simulation must find.

export interface PlantedDefect {
  /** What the job then does wrong. */
  readonly name: string;
  /** Below `lambdas/job`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** The first that finds it, when the histories were as they were then: it is tried first, to save time. */
  readonly seed: number;
  /** This project had it once. */
  readonly isPast?: true;
}
