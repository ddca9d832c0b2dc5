// Holds requests back while more was permitted since the last record of the usage than a crash may lose.

/** Writes the usage where the next process finds it. A failure is no reason to stop: the record is a courtesy. */
export type RecordUsage = () => Promise<void>;

interface Amount {
  readonly requests: number;
  readonly bytes: number;
}

const NOTHING: Amount = { requests: 0, bytes: 0 };

export class UsageRecord {
  readonly #most: Amount;
  readonly #record: RecordUsage;
  readonly #onRecorded: () => void;
  /** Permitted since the last record was begun. */
  #since = NOTHING;
  /** In the record that is under way. */
  #underWay: Amount | undefined;

  constructor(most: Amount, record: RecordUsage, onRecorded: () => void) {
    this.#most = most;
    this.#record = record;
    this.#onRecorded = onRecorded;
  }

  /** Whether one more request may be sent now. If not, `onRecorded` is called when it is worth asking again. */
  permits(bytes: number): boolean {
    const requests = this.#since.requests + (this.#underWay?.requests ?? 0);
    const allBytes = this.#since.bytes + (this.#underWay?.bytes ?? 0) + bytes;
    // One request is always permitted, or one that is larger than the most would wait for ever.
    if (requests === 0 || (requests < this.#most.requests && allBytes <= this.#most.bytes)) return true;
    this.#begin();
    return false;
  }

  /** Begins the next record halfway, so that requests rarely wait for it. */
  add(requests: number, bytes: number): void {
    this.#since = { requests: this.#since.requests + requests, bytes: this.#since.bytes + bytes };
    const isHalf =
      this.#since.requests * 2 >= this.#most.requests || this.#since.bytes * 2 >= this.#most.bytes;
    if (isHalf) this.#begin();
  }

  #begin(): void {
    if (this.#underWay !== undefined) return;
    this.#underWay = this.#since;
    this.#since = NOTHING;
    const end = (): void => {
      this.#underWay = undefined;
      this.#onRecorded();
    };
    this.#record().then(end, end);
  }
}
