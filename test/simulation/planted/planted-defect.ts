// A known defect: one small change of the job, which the simulation must find.

export interface PlantedDefect {
  /** What the job then does wrong. */
  readonly name: string;
  /** Below `lambdas/job`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** This project had it once. */
  readonly isPast?: true;
}
