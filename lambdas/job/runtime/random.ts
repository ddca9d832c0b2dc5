// Randomness as a run sees it: jitter and tokens. It comes in from outside, so a run can be repeated.

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A token that no other process will ever draw (128 bits or more). */
  token(): string;
}
