// Many callbacks on one signal. A signal walks the list of its listeners for each new one, and requests come and go by
// the thousand: here they share one listener.
//
// An array, not a Set: a Set moves to a new table whenever the old one is full, and the old one still names the new one
// and the callbacks of that moment. Once a table is old to the garbage collector, it keeps all tables after it, and all
// requests that were in them, until the next full collection.

type Callback = (reason: unknown) => void;

interface Entry {
  readonly callback: Callback;
  /** Its index. */
  at: number;
}

interface Shared {
  readonly entries: Entry[];
  readonly listener: () => void;
}

const sharedBy = new WeakMap<AbortSignal, Shared>();

/** Calls back with the reason once the signal aborts; never if it has aborted before. Returns what ends that. */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  const shared = sharedBy.get(signal) ?? listenTo(signal);
  const { entries, listener } = shared;
  const entry = { callback, at: entries.length };
  entries.push(entry);
  return () => {
    take(entry, entries);
    if (entries.length > 0) return;
    signal.removeEventListener("abort", listener);
    if (sharedBy.get(signal) === shared) sharedBy.delete(signal);
  };
}

/** The last one takes its place. */
function take(entry: Entry, entries: Entry[]): void {
  if (entries[entry.at] !== entry) return; // ended before
  const last = entries.pop();
  if (last === undefined || last === entry) return;
  entries[entry.at] = last;
  last.at = entry.at;
}

function listenTo(signal: AbortSignal): Shared {
  const entries: Entry[] = [];
  const listener = (): void => {
    for (const entry of [...entries]) if (entries[entry.at] === entry) entry.callback(signal.reason);
  };
  const shared = { entries, listener };
  sharedBy.set(signal, shared);
  signal.addEventListener("abort", listener);
  return shared;
}

/** Settles as the promise does, or rejects with the signal's reason if that comes first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = onAbort(signal, reject);
  if (signal.aborted) reject(signal.reason);
  return Promise.race([aborted, promise]).finally(leave);
}
