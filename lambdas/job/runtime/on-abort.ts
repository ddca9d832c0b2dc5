// Many callbacks on one signal. A signal walks the list of its listeners for each new one, and requests come and go by
// the thousand: here they share one listener.

type Callback = (reason: unknown) => void;

interface Shared {
  readonly callbacks: Set<Callback>;
  readonly listener: () => void;
}

const sharedBy = new WeakMap<AbortSignal, Shared>();

/** Calls back with the reason once the signal aborts; never if it has aborted before. Returns what ends that. */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  const shared = sharedBy.get(signal) ?? listenTo(signal);
  shared.callbacks.add(callback);
  return () => {
    shared.callbacks.delete(callback);
    if (shared.callbacks.size > 0) return;
    signal.removeEventListener("abort", shared.listener);
    if (sharedBy.get(signal) === shared) sharedBy.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Shared {
  const callbacks = new Set<Callback>();
  const listener = (): void => {
    for (const callback of callbacks) callback(signal.reason);
  };
  const shared = { callbacks, listener };
  sharedBy.set(signal, shared);
  signal.addEventListener("abort", listener);
  return shared;
}
