// What happens to a held snapshot that no person accepts, in words.

/** @param reason why it is held; null where that is not known */
export function ifNotAccepted(reason: string | null): string {
  const next =
    reason === "PINNED"
      ? "Later runs are held too, until a snapshot is accepted."
      : "The next run makes a new snapshot, and publishes it unless that one has to be held too.";
  return `Readers keep what they see. ${next} This one is retired after 30 days.`;
}
