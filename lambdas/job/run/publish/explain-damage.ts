// A comparison with the head found damage: which file is damaged, and the remedy.

import { isDamage } from "../../errors/is-damage.ts";
import { addDamagedHeadRemedy } from "../../snapshot/files/add-damaged-head-remedy.ts";
import { verifySnapshot } from "../../snapshot/files/verify-snapshot.ts";
import type { RunPorts } from "../run-ports.ts";

/**
 * The cause of a comparison's error. A damaged part shows in its rows before it shows in its checksum, and a row does not
 * know its file; so both snapshots are verified, the base first.
 */
export async function explainDamage(
  error: unknown,
  { store, signal }: Pick<RunPorts, "store" | "signal">,
  account: string,
  { base, snapshotId }: { readonly base: string | null; readonly snapshotId?: string },
): Promise<unknown> {
  if (!isDamage(error)) return error;
  const damageOf = async (id: string | null | undefined): Promise<unknown> => {
    if (id === null || id === undefined) return undefined;
    try {
      await verifySnapshot(store, account, id, () => signal.throwIfAborted());
      return undefined;
    } catch (found) {
      return found;
    }
  };
  const ofBase = await damageOf(base);
  if (ofBase !== undefined) return addDamagedHeadRemedy(ofBase, account);
  return (await damageOf(snapshotId)) ?? error;
}
