// AWS as the function sees it: the emulator behind a server that records every call, EventBridge, and what a test adds.

import {
  type Asked,
  AwsProxy,
  type Carried,
  type Fault,
  jsonResponse,
  s3Response,
} from "../aws/aws-proxy.ts";
import { emulator } from "../aws/emulator.ts";
import { type AwsCall, awsCalls } from "./aws-call.ts";

export interface BusEvent {
  readonly DetailType: string;
  readonly Source: string;
  readonly EventBusName: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Of a service that is not the emulator's; undefined for calls of others. */
type Answer = (asked: Asked, carried: Carried) => Fault | undefined;
type Refusal = (call: AwsCall, asked: Asked) => boolean;

export class AwsRecorder implements AsyncDisposable {
  /** Every call, refused ones too. */
  readonly calls: AwsCall[] = [];
  /** The entries sent to an event bus. */
  readonly events: BusEvent[] = [];
  readonly #proxy: AwsProxy;
  #refuses: Refusal = () => false;
  #answers: Answer = () => undefined;

  private constructor(proxy: AwsProxy) {
    this.#proxy = proxy;
    proxy.fault = (asked, carried) => this.#answer(asked, carried);
  }

  static async start(): Promise<AwsRecorder> {
    return new AwsRecorder(await AwsProxy.start(emulator()));
  }

  get url(): string {
    return this.#proxy.url;
  }

  /** Denies access to these calls until the next `refuse`. */
  refuse(refuses: Refusal): void {
    this.#refuses = refuses;
  }

  answerWith(answers: Answer): void {
    this.#answers = answers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
  }

  #answer(asked: Asked, carried: Carried): Fault | undefined {
    const calls = awsCalls({ ...asked, ...carried });
    this.calls.push(...calls);
    // The SDK does not retry it, as with AWS.
    if (calls.some((call) => this.#refuses(call, asked))) {
      return asked.action === undefined
        ? s3Response(403, "AccessDenied")
        : jsonResponse("AccessDeniedException");
    }
    if (asked.action === "AWSEvents.PutEvents") return this.#putEvents(carried);
    return this.#answers(asked, carried);
  }

  #putEvents({ body }: Carried): Fault {
    const { Entries } = JSON.parse(body.toString());
    for (const { Detail, ...entry } of Entries) this.events.push({ ...entry, detail: JSON.parse(Detail) });
    return {
      status: 200,
      headers: { "content-type": "application/x-amz-json-1.1" },
      body: JSON.stringify({ FailedEntryCount: 0, Entries: [{ EventId: "1" }] }),
    };
  }
}
