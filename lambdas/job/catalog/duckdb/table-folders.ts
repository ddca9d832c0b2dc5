// Which folders hold the files of the tables, by the publication logs.

import type { Publication } from "../../storage/publication-log.ts";

export interface AccountLog {
  readonly account: string;
  /** All publications of the account, oldest first. */
  readonly log: readonly Publication[];
  /** The snapshots that are retired, their files still there or not. */
  readonly retired: ReadonlySet<string>;
}

/** A publication and its account. */
export interface Published {
  readonly account: string;
  readonly publication: Publication;
}

/** Of `events`: the head of each account. */
export const headsOf = (accounts: readonly AccountLog[]): readonly Published[] =>
  accounts.flatMap(({ account, log }) => log.slice(-1).filter(hasRows).map(publishedIn(account)));

/** Of `event_snapshots`: what is published and not retired, each snapshot once. */
export const keptOf = (accounts: readonly AccountLog[]): readonly Published[] =>
  accounts.flatMap(({ account, log, retired }) => {
    const kept = log.filter(
      ({ snapshot_id }, index) => !retired.has(snapshot_id) || index === log.length - 1,
    );
    const snapshots = new Map(kept.filter(hasRows).map((each) => [each.snapshot_id, each]));
    return [...snapshots.values()].map(publishedIn(account));
  });

/** Of `event_changes`. */
export const changesOf = (accounts: readonly AccountLog[]): readonly Published[] =>
  accounts.flatMap(({ account, log }) =>
    log.filter(({ added, changed, removed }) => added + changed + removed > 0).map(publishedIn(account)),
  );

/** A snapshot without events has no parts. */
const hasRows = ({ events }: Publication): boolean => events > 0;

const publishedIn =
  (account: string) =>
  (publication: Publication): Published => ({ account, publication });
