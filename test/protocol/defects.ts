// Defects that can be planted in the protocol, each a change that somebody might make by accident, and the law of the
// protocol that each breaks.

import type { CatalogKind } from "./catalog.ts";
import type { ScenarioName } from "./scenarios.ts";

interface Planted {
  /** What is changed. */
  readonly change: string;
  readonly scenario: ScenarioName;
  readonly catalog?: CatalogKind;
  /** What the first broken law says. */
  readonly breaks: string;
}

export const DEFECTS = {
  "commit without condition": {
    change: "the entry of the log is written over the one that is there",
    scenario: "two accepts",
    breaks: "publication 2 has changed",
  },
  "catalog before commit": {
    change: "readers are switched before the entry of the log exists",
    scenario: "a run that is held and its accept",
    catalog: "Glue",
    breaks: "events shows what is not published",
  },
  "guard asked once": {
    change: "after a lost race the guard, the pin and the later head are not asked again",
    scenario: "two accepts",
    breaks: "publishes an older snapshot",
  },
  "pin not asked": {
    change: "a run publishes over a pinned head",
    scenario: "a run and a rollback",
    breaks: "the next run ends PUBLISHED",
  },
  "later head not asked": {
    change: "a run publishes over a later snapshot",
    scenario: "two runs",
    breaks: "run 2 publishes over the later snapshot 3",
  },
  "own publication not asked at the commit": {
    change: "a run does not look for its own publication before each try",
    scenario: "one run, delivered twice",
    breaks: "run 2 is recorded as SUPERSEDED, but the log has its publication",
  },
  "published run not asked": {
    change: "a run that crashed between commit and outcome starts over",
    scenario: "one run, delivered twice",
    breaks: "run 2 is recorded as SUPERSEDED, but the log has its publication",
  },
  "head read after the published run is sought": {
    change: "the head that supersedes a run may be its own",
    scenario: "one run, delivered twice",
    breaks: "run 2 is recorded as SUPERSEDED, but the log has its publication",
  },
  "write id not compared": {
    change: "a commit whose response was lost counts as a lost race",
    scenario: "a run that is held and its accept",
    breaks: "accept P2.1 has published twice",
  },
  "changes against the first head": {
    change: "after a lost race the changes are found against the head of before",
    scenario: "two accepts",
    breaks: "the changes of publication 3 do not lead to it",
  },
  "changes without the snapshot in their key": {
    change: "two writers of one number share the file of changes",
    scenario: "two accepts",
    breaks: "the changes of publication 2 do not lead to it",
  },
  "parts overwritten": {
    change: "a process writes what it has fetched over the snapshot of another process of its run",
    scenario: "one run that is held, delivered twice",
    breaks: "a process takes a file for damaged",
  },
  "staged work overwritten": {
    change: "a process that finds staged work of its run writes its own over it",
    scenario: "one run that is held, delivered twice",
    breaks: "a process takes a file for damaged",
  },
  "outcome before commit": {
    change: "the outcome is recorded before the commit",
    scenario: "a run and a rollback",
    breaks: "run 2 is recorded as PUBLISHED, but the log lacks its publication",
  },
  "mark of a held snapshot not read": {
    change: "a retry decides again whether a held snapshot is good",
    scenario: "a run, and an accept before its second delivery",
    breaks: "run 3 publishes a snapshot that is held",
  },
  "accept takes an older snapshot": {
    change: "accept without force does not look at the head",
    scenario: "two accepts",
    breaks: "publishes an older snapshot",
  },
  "rollback does not pin": {
    change: "the entry of a rollback is like any other",
    scenario: "a run and a rollback",
    breaks: "does not pin",
  },
  "head not read again": {
    change: "the catalog is switched once, and the log is not read again",
    scenario: "two accepts",
    catalog: "Glue",
    breaks: "readers see publication 1, and the head is 2",
  },
  "only the head in the catalog": {
    change: "the catalog adds the newest publication, not those between",
    scenario: "two accepts",
    catalog: "Glue",
    breaks: "event_changes lacks publication 2",
  },
  "events first": {
    change: "the catalog moves events before the other tables",
    scenario: "a run that is held and its accept",
    catalog: "Glue",
    breaks: "event_snapshots lacks what events shows",
  },
  "views replaced without condition": {
    change: "views.sql is written from a reading that may be old",
    scenario: "two accepts",
    breaks: "views.sql goes back from 3 to 2",
  },
  "lease taken without condition": {
    change: "two starts that find no lease both take it",
    scenario: "two runs",
    breaks: "both hold a lease that has not expired",
  },
  "lease freed without condition": {
    change: "a process that has lost its lease frees the lease of the next one",
    scenario: "a run, and two others one after the other",
    breaks: "both hold a lease that has not expired",
  },
  "finished run not asked under the lease": {
    change: "a second delivery that waited starts the finished run again",
    scenario: "one run that is refused, delivered twice",
    breaks: "a request is sent for run 2, which is finished",
  },
  "the end after a lost race is one's own": {
    change: "a process that finds a record at its place goes on where its own range would have ended",
    scenario: "two processes collect a run",
    breaks: "record 1 does not begin where the one before it ends",
  },
  "a record is made after the lease was lost": {
    change: "a process that finds another one's lease records what it has fetched",
    scenario: "two processes collect a run",
    breaks: "a record is made after the lease was lost",
  },
  "a record is created without a condition": {
    change: "a record is written over the one that is there",
    scenario: "two processes collect a run",
    breaks: "record 0 has changed",
  },
  "a record is not known as one's own": {
    change: "a record whose response was lost counts as a lost race, so the process deletes its rows",
    scenario: "two processes collect a run",
    breaks: "the rows of record 0 are gone",
  },
  "parts are staged in place": {
    change:
      "rows are written as parts at once, without records: a part's last row says where the next begins",
    scenario: "two processes collect a run",
    breaks: "readers see part 1, which the manifest does not name",
  },
  "another process's rows are not verified": {
    change: "a process names rows that it has neither written nor read",
    scenario: "two processes collect a run, and rows are damaged",
    breaks: "which was damaged before it was read",
  },
  "a part that is there is not verified": {
    change: "a name that is taken counts as named",
    scenario: "two processes collect a run, and a foreign part has a name of theirs",
    breaks: "part 0 does not hold the rows of a record",
  },
  "the listing is not compared": {
    change: "the manifest is created without a look at the folder",
    scenario: "two processes collect a run beside a foreign part",
    breaks: "readers see part 2, which the manifest does not name",
  },
  "removal without an entry": {
    change: "a removal deletes the log from its newest publication down, and writes no entry",
    scenario: "a removal and an accept",
    breaks: "publication 1 has changed",
  },
  "files deleted before the removal's entry": {
    change: "a removal deletes snapshots before it cuts the log",
    scenario: "a removal and an accept",
    breaks: "the published snapshot 1 has changed",
  },
  "number of a removal taken without condition": {
    change: "a removal writes its entry over the one that is there",
    scenario: "a removal and an accept",
    breaks: "publication 2 has changed",
  },
  "log not cut at a removal": {
    change: "readers of the log take what lies below a removal, and the removal itself, for publications",
    scenario: "a removal and a rollback",
    breaks: "names a snapshot that is not there",
  },
  "removal not asked at the commit": {
    change: "a commit that has lost its number to a removal takes the next one",
    scenario: "a removal and an accept",
    breaks: "accept P2.1 has published twice",
  },
  "log not read after the commit": {
    change: "a paused commit that creates a number below a removal counts as published",
    scenario: "a run, and a removal after an accept",
    breaks: "run 3 is recorded as PUBLISHED, but the log lacks its publication",
  },
  "accept of what is removed": {
    change: "an accept takes a snapshot that a removal is about to delete",
    scenario: "a removal and an accept",
    breaks: "names a snapshot that is not there",
  },
  "run named before a removal": {
    change: "a run that is named before a removal publishes after it",
    scenario: "a removal and a run, delivered twice",
    breaks: "a process takes a file for damaged",
  },
  "lease not confirmed before files are deleted": {
    change: "a removal that was paused deletes what it finds, also of a later run",
    scenario: "a removal and a later run",
    breaks: "names a snapshot that is not there",
  },
  "refresh blind to a removal": {
    change: "a refresh that finds a removal leaves the account in the tables",
    scenario: "a removal and a rollback",
    catalog: "Glue",
    breaks: "and the head is undefined",
  },
  "removal not named in views.sql": {
    change: "views.sql without an account reads the same before its first publication and after its removal",
    scenario: "a removal and the accept of a first snapshot",
    breaks: "readers see publication",
  },
} as const satisfies Readonly<Record<string, Planted>>;

export type Defect = keyof typeof DEFECTS;

export function planted(defect: Defect): Planted {
  return DEFECTS[defect];
}

export function isDefect(text: string): text is Defect {
  return Object.hasOwn(DEFECTS, text);
}
