// What the service has, and what it had: every event with all its versions, so that a model can ask about any instant.

import { uuidOf } from "../../simulator/simulated-event.ts";
import { World as Events } from "../../simulator/world.ts";

/** One event for a while. */
interface Version {
  readonly fromMs: number;
  readonly text: string;
  /** The event's entry in the list. */
  readonly listing: string;
  /** By member of the details what a column of it has: a string itself, any other value as it stands there. */
  readonly columns: Readonly<Record<string, string>>;
  readonly isListed: boolean;
  /** What its details are answered with; undefined: the text. */
  readonly refusal: 403 | 404 | 410 | undefined;
}

export type EventState = Omit<Version, "fromMs">;

export class Content {
  /** As the service has them now. */
  readonly events = new Events([]);
  readonly #versions = new Map<string, Version[]>();
  #made = 0;
  #revision = 0;

  /** All uuids that ever were. */
  get uuids(): readonly string[] {
    return [...this.#versions.keys()];
  }

  add(count: number, nowMs: number): void {
    for (let n = 0; n < count; n += 1) {
      this.#made += 1;
      const uuid = uuids(this.#made);
      this.#set(uuid, nowMs, { ...this.#newTexts(uuid), isListed: true, refusal: undefined });
    }
  }

  /** Gives it a text that no event had before. */
  revise(uuid: string, nowMs: number): void {
    this.#set(uuid, nowMs, { ...this.state(uuid), ...this.#newTexts(uuid) });
  }

  archive(uuid: string, nowMs: number): void {
    this.#set(uuid, nowMs, { ...this.state(uuid), isListed: false, refusal: 404 });
  }

  refuse(uuid: string, nowMs: number, refusal: EventState["refusal"]): void {
    this.#set(uuid, nowMs, { ...this.state(uuid), refusal });
  }

  /** In the order in which they were made. */
  listed(): readonly string[] {
    return this.events.shown(true).map(({ uuid }) => uuid);
  }

  state(uuid: string): EventState {
    return this.#versions.get(uuid)?.at(-1) ?? UNKNOWN;
  }

  /** Whether it was so at some instant from one to the other. */
  wasEver(uuid: string, fromMs: number, toMs: number, holds: (state: EventState) => boolean): boolean {
    const versions = this.#versions.get(uuid) ?? [];
    const first = versions[0];
    if ((first === undefined || first.fromMs > fromMs) && holds(UNKNOWN)) return true;
    return versions.some((version, index) => {
      const untilMs = versions[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
      return version.fromMs <= toMs && untilMs > fromMs && holds(version);
    });
  }

  /** Whether anything changed at some instant from one to the other. */
  hasChanged(fromMs: number, toMs: number): boolean {
    const changes = [...this.#versions.values()].flat();
    return changes.some((version) => version.fromMs >= fromMs && version.fromMs <= toMs);
  }

  #set(uuid: string, fromMs: number, state: EventState): void {
    const versions = this.#versions.get(uuid);
    const { text: source, listing, isListed: listed, refusal } = state;
    if (versions) {
      versions.push({ ...state, fromMs });
      this.events.change(uuid, { source, listing, listed });
    } else {
      this.#versions.set(uuid, [{ ...state, fromMs }]);
      this.events.add({ uuid, source, listing, listed, archived: false });
    }
    this.events.refuse(uuid, refusal);
  }

  /** Texts of different lengths, with numbers and letters that a re-serialisation would change. */
  #newTexts(uuid: string): Pick<Version, "text" | "listing" | "columns"> {
    this.#revision += 1;
    const n = this.#revision;
    const filler = "x".repeat((n * 37) % 400);
    const note = n % 3 === 0 ? `,"note":"caf\\u00e9 ${filler}"` : "";
    const date = `2026-01-0${1 + (n % 9)}`;
    const [scope = "", inColumn] = SCOPES[n % SCOPES.length] ?? [];
    return {
      text: `{"uuid":"${uuid}","date":"${date}"${scope},"spend":${n}.10${note}}`,
      listing: `{"uuid":"${uuid}","name":"event ${n}"}`,
      columns: {
        date,
        spend: `${n}.10`,
        ...(inColumn === undefined ? {} : { scope: inColumn }),
        ...(n % 3 === 0 ? { note: `café ${filler}` } : {}),
      },
    };
  }
}

/** As the details have it, and as its column does. */
const SCOPES: readonly (readonly [string, string?])[] = [
  [',"scope":null'],
  [',"scope":"global"', "global"],
  [""],
  [',"scope":{"a":1.0,"b":[]}', '{"a":1.0,"b":[]}'],
  [',"scope":1.50', "1.50"],
];

const UNKNOWN: EventState = { text: "", listing: "", columns: {}, isListed: false, refusal: 404 };

const known = new Map<number, string>();
function uuids(n: number): string {
  const uuid = known.get(n) ?? uuidOf(`simulated ${n}`);
  known.set(n, uuid);
  return uuid;
}
