// The mutations that no test can notice, each with the reason. A file is named, then the mutation as
// `npm run mutate` prints it; the same text twice in a function is one entry.

/** What decides about data: of these files each mutation dies, or is listed below. */
export const DECIDING: readonly string[] = [
  "lambdas/job/run/publish/guard.ts",
  "lambdas/job/run/publish/retention.ts",
  "lambdas/job/run/publish/commit.ts",
  "lambdas/job/run/publish/publish.ts",
  "lambdas/job/commands/decisions.ts",
  "lambdas/job/run/record/held-mark.ts",
  "lambdas/job/run/record/published-run.ts",
  "lambdas/job/run/record/run-result.ts",
  "lambdas/job/run/dry-run.ts",
  "lambdas/job/storage/publication-log.ts",
  "lambdas/job/storage/layout.ts",
  "lambdas/job/run/lease/lease-file.ts",
  "lambdas/job/run/lease/lease.ts",
  "lambdas/job/run/lease/lease-account.ts",
  "lambdas/job/service/rate-limit/rate-limiter.ts",
  "lambdas/job/service/rate-limit/usage-window.ts",
  "lambdas/job/catalog/duckdb/duckdb-catalog.ts",
  "lambdas/job/service/requests/sender.ts",
  "lambdas/job/service/auth/oauth/token-rotation.ts",
  "lambdas/job/snapshot/files/manifest.ts",
  "lambdas/job/snapshot/files/parts.ts",
  "lambdas/job/snapshot/files/gzip-lines.ts",
  "lambdas/job/snapshot/files/units.ts",
  "lambdas/job/snapshot/files/verify-snapshot.ts",
  "lambdas/job/snapshot/rows/table-columns.ts",
  "lambdas/job/run/publish/columns.ts",
  "lambdas/job/storage/snapshot-marks.ts",
  "lambdas/job/storage/store.ts",
  "lambdas/job/run/collect/refusals.ts",
  "lambdas/job/runtime/map-ordered.ts",
  "lambdas/job/snapshot/rows/compare-snapshots.ts",
  "lambdas/job/snapshot/staging/plan.ts",
  "lambdas/job/snapshot/staging/chain.ts",
  "lambdas/job/run/publish/build-snapshot.ts",
  "bin/cli/query/locked-duckdb.ts",
  "lambdas/job/run/run-session.ts",
  "lambdas/job/run/record/attempt.ts",
  "lambdas/job/storage/known-accounts.ts",
  "lambdas/job/run/collect/unfinished-run.ts",
  "lambdas/job/run/collect/collect.ts",
  "lambdas/job/run/run.ts",
  "lambdas/job/service/events/list/list-doubt.ts",
  "lambdas/job/service/events/list/listed-events.ts",
  "lambdas/job/service/events/list/fetch-list.ts",
  "lambdas/job/service/events/list/list-errors.ts",
  "lambdas/job/service/events/list/read-page.ts",
  "lambdas/job/service/events/list/next-link.ts",
  "lambdas/job/service/events/list/empty-page.ts",
  "lambdas/job/service/events/list/list-page.ts",
  "lambdas/job/service/events/list/try-next-page.ts",
  "lambdas/job/service/events/list/page-words.ts",
  "lambdas/job/service/events/list/page-hints.ts",
];

export const EQUIVALENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "lambdas/job/run/publish/guard.ts": {
    "guard: if (headEvents !== undefined && events * 100 < headEvents * (100 - maxDropPercent)) → if ((events * 100 < headEvents * (100 - maxDropPercent)))":
      "Without a head the product is not a number, and nothing is less than that.",
    "guard: headEvents !== undefined && maxGrowthPercent !== undefined && → (maxGrowthPercent !== undefined) &&":
      "Without a head the product is not a number, and nothing is more than that.",
    "guard: headEvents !== undefined && maxGrowthPercent !== undefined && → (headEvents !== undefined) &&":
      "Without a limit the product is not a number, and nothing is more than that.",
  },
  "lambdas/job/run/publish/retention.ts": {
    "headsSince: if (endedAtMs < sinceMs - DAY_MS) break; → if (endedAtMs <= sinceMs - DAY_MS) break;":
      "What is older than that one ended then, and was no head since.",
    "retireAndDelete: else if (retiredAtMs !== undefined && retiredAtMs <= nowMs - DAY_MS && !inUse.has(snapshotId)) → else if ((retiredAtMs <= nowMs - DAY_MS) && !inUse.has(snapshotId))":
      "Without an instant the comparison is with no number, and false.",
    "madeAtMs: if (namedAtMs === undefined || !isFuture(namedAtMs, nowMs)) return namedAtMs; → if ((!isFuture(namedAtMs, nowMs))) return namedAtMs;":
      "Without an instant the comparison is with no number, and it is in no future.",
    "isOlder: return madeAtMs !== undefined && days !== undefined && madeAtMs < nowMs - days * DAY_MS; → return (madeAtMs !== undefined) && madeAtMs < nowMs - days * DAY_MS;":
      "Without a limit the product is not a number, and nothing is less than that.",
    "isOlder: return madeAtMs !== undefined && days !== undefined && madeAtMs < nowMs - days * DAY_MS; → return (days !== undefined) && madeAtMs < nowMs - days * DAY_MS;":
      "Without an instant the comparison is with no number, and false.",
  },
  "lambdas/job/commands/decisions.ts": {
    'acceptOrRollback: if ("error" in end && isNotFound(end.error) && attempt.counts === NO_COUNTS) → if ((isNotFound(end.error)) && attempt.counts === NO_COUNTS)':
      "An end without an error has none that was not found.",
    'isNotFound: return error instanceof SyncError && error.code === "SNAPSHOT_NOT_FOUND"; → return (error.code === "SNAPSHOT_NOT_FOUND");':
      "No other error has this code.",
  },
  "lambdas/job/storage/publication-log.ts": {
    'readEntry: if (ids.includes(id) || (ids.at(-1) ?? "") < id) throw corrupt(key, "it was listed but no longer exists"); → if (ids.includes(id) || (ids.at(-1) ?? "") <= id) throw corrupt(key, "it was listed but no longer exists");':
      "Where the last number is this one, the list includes it.",
  },
  "lambdas/job/service/auth/oauth/token-rotation.ts": {
    "renewClaimed: return { tokens: stored.tokens, isRenewed: false }; → return undefined;":
      "One more round reads the same tokens.",
    "refused: if (tokens.refresh_token !== spent.refresh_token) return { tokens, isRenewed: false }; → if (tokens.refresh_token !== spent.refresh_token) return undefined;":
      "One more round reads the same tokens.",
  },
  "lambdas/job/snapshot/staging/plan.ts": {
    "add: if (end > this.#open.length) this.#grow(end); → if (end >= this.#open.length) this.#grow(end);":
      "A buffer that is exactly full is only replaced one line earlier.",
  },
  "lambdas/job/snapshot/staging/chain.ts": {
    "read: if (key && sizes.get(key) !== next.rows?.stored.bytes) → if ((sizes.get(key) !== next.rows?.stored.bytes))":
      "Without rows there is neither a file nor a size that it should have.",
    "verify: await lines.return(undefined); → lines.return(undefined);":
      "The file is closed as well, and nothing waits for that.",
  },
  "lambdas/job/snapshot/rows/compare-snapshots.ts": {
    "diffRows: } else if (old && current) { → } else if ((old)) {":
      "Where one of both is left alone, one of the branches before was taken.",
    "diffRows: } else if (old && current) { → } else if ((current)) {":
      "Where one of both is left alone, one of the branches before was taken.",
  },
  "lambdas/job/run/lease/lease-file.ts": {
    "readLease: if (!isDamage(error)) throw error; → dropped":
      "Reading the object throws nothing but damage: a store that fails does so before.",
  },
  "lambdas/job/service/rate-limit/rate-limiter.ts": {
    "wakeLater: const atMs = heldMs > this.#clock.monotonicMs() ? heldMs : this.#window.nextExpiryMs; → const atMs = heldMs >= this.#clock.monotonicMs() ? heldMs : this.#window.nextExpiryMs;":
      "It looks once more, a millisecond later, and waits for the window then.",
  },
  "lambdas/job/service/rate-limit/usage-window.ts": {
    "forget: if (nextExpiryMs !== undefined && nextExpiryMs <= nowMs) { → if ((nextExpiryMs !== undefined)) {":
      "Where nothing has left the window, all of it stays, and its sum is the same.",
    "forget: if (nextExpiryMs !== undefined && nextExpiryMs <= nowMs) { → if ((nextExpiryMs <= nowMs)) {":
      "In an empty window the comparison is with no number, and false.",
  },
  "lambdas/job/snapshot/files/gzip-lines.ts": {
    "encoded: if (text.length < BLOCK_BYTES) continue; → if (!(text.length < BLOCK_BYTES)) continue;":
      "What zlib makes of bytes is the same wherever one block ends and the next begins.",
    "encoded: if (text.length < BLOCK_BYTES) continue; → if (text.length <= BLOCK_BYTES) continue;":
      "What zlib makes of bytes is the same wherever one block ends and the next begins.",
    "encoded: if (text.length < BLOCK_BYTES) continue; → dropped":
      "Each line is a block then, which takes longer and makes the same.",
    "inBlocks: if (bytes < BLOCK_BYTES) continue; → if (bytes <= BLOCK_BYTES) continue;":
      "What zlib makes of bytes is the same wherever one block ends and the next begins.",
  },
  "lambdas/job/storage/snapshot-marks.ts": {
    'dateRetired: if (mark === undefined || (await readRetired(store, snapshotId)) !== "undated") return; → if (((await readRetired(store, snapshotId)) !== "undated")) return;':
      "Where there is no mark, it is not one without an instant.",
  },
  "lambdas/job/storage/store.ts": {
    "SELDOM_PARSED: export const SELDOM_PARSED = { jitless: true } as const; → export const SELDOM_PARSED = { jitless: false } as const;":
      "Zod finds the same with the code that it generates as without.",
  },
  "lambdas/job/run/collect/refusals.ts": {
    'lacksDetails: return answer.kind === "left-out" && (answer.reason === "gone" || answer.reason === "forbidden"); → return (answer.reason === "gone" || answer.reason === "forbidden");':
      "An event has no reason.",
  },
  "lambdas/job/runtime/map-ordered.ts": {
    "mapOrdered: results.delete(taken); → dropped":
      "No result is looked for a second time: it would only take memory.",
  },
  "lambdas/job/snapshot/files/units.ts": {
    "hasPublishedFiles: return head !== undefined && hasFile(own, head.snapshot_id); → return false;":
      "Then the whole logs are read, which takes longer and finds the same.",
  },
  "lambdas/job/run/run.ts": {
    'run: ports.isUnattended === false && attempt.publication === undefined && "error" in end && → (ports.isUnattended === false && attempt.publication === undefined) &&':
      "An end without an error has none that is a mistake.",
  },
  "lambdas/job/run/collect/collect.ts": {
    "leavesUnfinished: return error instanceof SyncError && error.isRetryable; → return (error.isRetryable);":
      "No other error says so.",
  },
  "lambdas/job/storage/known-accounts.ts": {
    'accountBehind: if (key > after && (key.endsWith("/") || isOfLayout(key))) → if (key >= after && (key.endsWith("/") || isOfLayout(key)))':
      "A list begins behind the folder of the warehouse, or behind a name that no key has.",
    "orDamage: if (!(error instanceof SyncError) || !OF_AN_ACCOUNT.has(error.code)) throw error; → if ((!OF_AN_ACCOUNT.has(error.code))) throw error;":
      "No other error has these codes.",
  },
  "lambdas/job/run/run-session.ts": {
    'interruptionOf: return cause instanceof SyncError && cause.code === "INTERRUPTED" ? cause : undefined; → return (cause.code === "INTERRUPTED") ? cause : undefined;':
      "No other error has this code.",
  },
  "lambdas/job/run/collect/unfinished-run.ts": {
    "findAdoptable: const base = head && !isPast(head) ? await findPublication(store, isPast) : head; → const base = (head) ? await findPublication(store, isPast) : head;":
      "The search finds the head, with one list more: what a run costs is counted.",
  },
  "bin/cli/query/locked-duckdb.ts": {
    "withLockedDuckDB: await connection.run(`SET temp_directory = ${literal(temporary ?? \"\")}; SET memory_limit = '${memoryLimitBytes(totalmem(), process.constrainedMemory())} B'; SET TimeZone = 'UTC'; SET allowed_directori… → connection.run(`SET temp_directory = ${literal(temporary ?? \"\")}; SET memory_limit = '${memoryLimitBytes(totalmem(), process.constrainedMemory())} B'; SET TimeZone = 'UTC'; SET allowed_directories = […":
      "A connection runs its statements one after the other, and none of these fails.",
    "withLockedDuckDB: instance.closeSync(); → dropped":
      "Its threads and its memory last a little longer then, until the garbage collector or the process ends them.",
  },
  "lambdas/job/service/events/list/listed-events.ts": {
    "order: prefixes[index] = Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16); → dropped":
      "All are compared by their whole uuids then, which takes longer and finds the same order.",
    "isSmaller: return a.listing < b.listing || (a.listing === b.listing && a.requestAs < b.requestAs); → return a.listing < b.listing || (a.listing === b.listing && a.requestAs <= b.requestAs);":
      "Two entries with the same texts are the same.",
    "chunkFor: if (last && this.#used + bytes <= last.length) return last; → if (last && this.#used + bytes < last.length) return last;":
      "A record that would just fill its chunk goes into a new one.",
  },
  "lambdas/job/service/events/list/try-next-page.ts": {
    'isAboutPages: error instanceof SyncError && (error.code === "LIST_INCOMPLETE" || error.code === "UNEXPECTED_RESPONSE") → (error.code === "LIST_INCOMPLETE" || error.code === "UNEXPECTED_RESPONSE")':
      "No other error has these codes.",
    "tryEach: if (first === undefined || this.#uuids.size === 0 || this.#uuids.size > MOST_SEEN) return undefined; → if ((this.#uuids.size === 0) || this.#uuids.size > MOST_SEEN) return undefined;":
      "A list of which no page came has no uuids.",
  },
  "lambdas/job/service/events/list/page-words.ts": {
    "partsOf: for (let start = Math.max(0, end - MAX_WORD); start < end; start += 1) { → for (let start = Math.max(0, end - MAX_WORD); start <= end; start += 1) {":
      "No word is empty.",
  },
};
