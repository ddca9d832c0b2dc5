// What a person does about an answer that another server than the service could give as well: one rule for all messages. An
// address that has answered rightly is right, so then the event, the page or the moment is odd.

import { type Advice, inOrder } from "../../errors/advice.ts";
import { type ErrorCode, type ErrorFields, SyncError } from "../../errors/sync-error.ts";

/** The setting that says where a request goes. */
export type AddressSetting = "baseUrl" | "authUrl";

/** What stands at an address, in words. */
export function peerOf(address: AddressSetting): string {
  return address === "baseUrl" ? "the service" : "the identity provider";
}

interface Doubt {
  /** Where nothing right has come from this address yet: names the setting. */
  readonly ifNew: Advice | string;
  /** What helps then as well, whatever the address. */
  readonly ifKnown?: Advice | string;
  /** With `request`. */
  readonly fields: ErrorFields;
}

/** An error that may be due to a wrong address. Its own advice is that for one that has never answered rightly. */
export class AddressDoubt extends SyncError {
  readonly #ifKnown: Advice | string | undefined;

  constructor(code: ErrorCode, what: string, { ifNew, ifKnown, fields }: Doubt) {
    super(code, what, { fields, next: ifNew });
    this.#ifKnown = ifKnown;
  }

  /** The error for an address that has answered rightly, in this run or when what readers see was made. */
  atKnownAddress(nowMs: number): SyncError {
    const { code, message, fields } = this;
    const request = fields["request"] ?? "this request";
    const ask = `This address has answered rightly before: if it happens again, ask the service's operator about ${request} at ${new Date(nowMs).toISOString()}.`;
    return new SyncError(code, message, { fields, next: inOrder(this.#ifKnown, ask) });
  }
}
