// Results in the order of their items: which are there, which can be taken, and how much of them waits.

interface Finished<Result> {
  readonly value: Result;
  readonly weight: number;
}

/** So many empty places at the front are given back at once. */
const MAX_TAKEN = 1_000;

export class OrderedResults<Result> {
  #places: (Finished<Result> | undefined)[] = [];
  /** The number of the first place. */
  #first = 0;
  /** The number of the next one to take. */
  #next = 0;
  /** The number of the first place at or after the next one that has no result. */
  #unfinished = 0;
  #weight = 0;

  /** How many items have been begun and not taken. */
  get length(): number {
    return this.#first + this.#places.length - this.#next;
  }

  /** How many results can be taken: no older one is missing. */
  get ready(): number {
    return this.#unfinished - this.#next;
  }

  /** Of all results that are there. */
  get weight(): number {
    return this.#weight;
  }

  /** Returns the number of a new place, behind all others. */
  begin(): number {
    return this.#first + this.#places.push(undefined) - 1;
  }

  finish(place: number, value: Result, weight: number): void {
    this.#places[place - this.#first] = { value, weight };
    this.#weight += weight;
    while (this.#places[this.#unfinished - this.#first] !== undefined) this.#unfinished += 1;
  }

  /** The oldest result; undefined while it is missing. */
  take(): { readonly value: Result } | undefined {
    const index = this.#next - this.#first;
    const finished = this.#places[index];
    if (finished === undefined) return undefined;
    this.#places[index] = undefined;
    this.#next += 1;
    this.#weight -= finished.weight;
    if (index === MAX_TAKEN) {
      this.#places = this.#places.slice(index + 1);
      this.#first = this.#next;
    }
    return finished;
  }

  /** All that are there, in order. */
  rest(): readonly Result[] {
    return this.#places.flatMap((finished) => (finished ? [finished.value] : []));
  }
}
