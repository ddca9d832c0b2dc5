// What a person does about an answer that another server than the service could give as well: one rule for all messages. An
// address that has answered rightly is right, so then the event, the page or the moment is odd.

import { type ErrorCode, type ErrorFields, SyncError } from "../../errors/sync-error.ts";

export type AddressOption = "--base-url" | "--auth-url";

/** What stands at an address, in words. */
export function peerOf(addressOption: AddressOption): string {
  return addressOption === "--base-url" ? "the service" : "the identity provider";
}

interface Advice {
  /** Where nothing right has come from this address yet: names the option. */
  readonly ifNew: string;
  /** What helps then as well, whatever the address. */
  readonly ifKnown?: string;
  /** With `request`. */
  readonly fields: ErrorFields;
}

/** An error that may be due to a wrong address. Its own message is that for one that has never answered rightly. */
export class AddressDoubt extends SyncError {
  readonly #what: string;
  readonly #advice: Advice;

  constructor(code: ErrorCode, what: string, advice: Advice) {
    super(code, `${what} ${advice.ifNew}`, { fields: advice.fields });
    this.#what = what;
    this.#advice = advice;
  }

  /** The error for an address that has answered rightly, in this run or when what readers see was made. */
  atKnownAddress(nowMs: number): SyncError {
    const { ifKnown, fields } = this.#advice;
    const request = fields["request"] ?? "this request";
    const ask = `This address has answered rightly before: if it happens again, ask the service's operator about ${request} at ${new Date(nowMs).toISOString()}.`;
    const message = [this.#what, ...(ifKnown === undefined ? [] : [ifKnown]), ask].join(" ");
    return new SyncError(this.code, message, { fields });
  }
}
