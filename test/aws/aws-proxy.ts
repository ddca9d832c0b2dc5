// A proxy between a client of AWS and the emulator that injects faults: responses, connections, whole services.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { buffer } from "node:stream/consumers";

/** `lose-response`: the request arrives, its response does not. `lose-request`: it never arrives. */
export type Fault =
  | "lose-response"
  | "lose-request"
  | "cut-response"
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

/** A request, as the test that decides on its fault sees it. */
export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Of services that take all calls at one path: `AWSGlue.GetTable`. */
  readonly action: string | undefined;
  /** How many requests came before this one. */
  readonly index: number;
}

/** The body of a request; not kept. */
export interface Carried {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export class AwsProxy implements AsyncDisposable {
  readonly asked: Asked[] = [];
  /** The fault for a request; undefined forwards it. */
  fault: (asked: Asked, carried: Carried) => Fault | undefined | Promise<Fault | undefined> = () => undefined;
  readonly #server: Server;
  readonly #upstream: string;

  private constructor(upstream: string) {
    this.#upstream = upstream;
    this.#server = createServer((incoming, outgoing) => {
      this.#handle(incoming, outgoing).catch(() => outgoing.destroy());
    });
  }

  /** Without an upstream every request needs a fault. */
  static async start(upstream = "http://127.0.0.1:1"): Promise<AwsProxy> {
    const proxy = new AwsProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = incoming;
    const body = await buffer(incoming);
    const action = headers["x-amz-target"]?.toString();
    const asked = { method, url, action, index: this.asked.length };
    this.asked.push(asked);
    const fault = await this.fault(asked, { headers, body });
    if (typeof fault === "object") {
      outgoing
        .writeHead(fault.status, { "content-type": "application/xml", ...fault.headers })
        .end(fault.body);
      return;
    }
    if (fault === "lose-request") {
      outgoing.destroy();
      return;
    }
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${this.#upstream}${url}`, { method, headers }, resolve).on("error", reject).end(body);
    });
    const content = await buffer(answer);
    if (fault === "lose-response") {
      outgoing.destroy();
      return;
    }
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    if (fault === "cut-response")
      outgoing.write(content.subarray(0, content.length / 2), () => outgoing.destroy());
    else outgoing.end(content);
  }
}

/** An error as S3 writes it. */
export const s3Response = (status: number, code: string, message = `said ${code}`): Fault => ({
  status,
  body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});

/** An error as Glue and Secrets Manager write it. */
export const jsonResponse = (code: string, message = `said ${code}`, status = 400): Fault => ({
  status,
  body: JSON.stringify({ __type: code, message }),
  headers: { "content-type": "application/x-amz-json-1.1", "x-amzn-errortype": code },
});

/** An answer in XML with members, as CloudFormation and IAM write it. */
export const queryResponse = (action: string, result: object): Fault => ({
  status: 200,
  body: xmlOf({ [`${action}Response`]: { [`${action}Result`]: result } }),
});

function xmlOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => `<member>${xmlOf(each)}</member>`).join("");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, each]) => `<${name}>${xmlOf(each)}</${name}>`)
      .join("");
  }
  return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
