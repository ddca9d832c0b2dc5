// Randomness as a run sees it: jitter and tokens. It is injected, so a test is repeatable.

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A globally unique token (128 bits or more). */
  token(): string;
}
