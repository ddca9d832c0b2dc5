// Many callbacks on one signal. A signal walks the list of its listeners for each new one, and requests come and go by
// the thousand: here they share one listener.
//
// An array, not a Set: a Set moves to a new table whenever the old one is full, and the old one still names the new one
// and the callbacks of that moment. Once a table is old to the garbage collector, it keeps all tables after it, and all
// requests that were in them, until the next full collection.

type Callback = (reason: unknown) => void;

interface Shared {
  readonly callbacks: Callback[];
  readonly listener: () => void;
}

const sharedBy = new WeakMap<AbortSignal, Shared>();

/**
 * Calls back with the reason once the signal aborts; never if it has aborted before. Returns what ends that.
 * @param callback a function of its own: no other call has it
 */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  const { callbacks, listener } = sharedBy.get(signal) ?? listenTo(signal);
  callbacks.push(callback);
  return () => {
    const at = callbacks.indexOf(callback);
    if (at !== -1) callbacks.splice(at, 1);
    if (callbacks.length > 0) return;
    signal.removeEventListener("abort", listener);
    sharedBy.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Shared {
  const callbacks: Callback[] = [];
  const listener = (): void => {
    for (const each of [...callbacks]) if (callbacks.includes(each)) each(signal.reason);
  };
  const shared = { callbacks, listener };
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
