import type { ServerResponse } from "node:http";
import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { told } from "../../../words/said.ts";
import { connect, errorOf, failedList } from "../connection.ts";
import { httpServer, type LocalServer } from "../http/local-server.ts";

const EVENT = "00000000-0000-4000-8000-000000000000";
/** A body whose text must not come up in an error. */
const CANARY = JSON.stringify({ data: [{ uuid: EVENT, name: "canary München" }] });

/** A service whose login works. */
const service = (respond: (response: ServerResponse) => void): Promise<LocalServer> =>
  httpServer((request, response) => {
    if (request.method === "POST") response.setHeader("set-cookie", "s=1; Path=/").end();
    else respond(response);
  });

const sent = (headers: Readonly<Record<string, string>>, body: string | Buffer = "", status = 200) =>
  service((response) => response.writeHead(status, headers).end(body));

const json = (charset: string) => ({ "content-type": `application/json; charset=${charset}` });
const NOT_THE_SERVICE =
  "Check that --base-url is the service itself and not a web page. If it is right, ask the service's operator. Then run again.";

const NOT_UTF8 = "JSON is in UTF-8 (RFC 8259): ask the service's operator to send that. Then run again.";
const CHANGED =
  "Look for a proxy between here and the service that changes bodies. If there is none, ask the service's operator.";

describe("a body that is no JSON in UTF-8", () => {
  const NO_JSON = "a body that is not JSON";
  const OTHER = "a body that begins as JSON and is not UTF-8, perhaps ISO-8859-1";
  const CUT =
    "Its Content-Length may be too small: ask the service's operator, or look for a proxy that cuts bodies. Then run again.";
  const says = (charset: string): string => `${NO_JSON} in UTF-8; its Content-Type says ${charset}`;
  const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
  it.each<[what: string, answer: Parameters<typeof sent>, named: string, remedy: string]>([
    ["is empty", [{}], "an empty body", NOT_THE_SERVICE],
    ["is a 204", [{}, "", 204], "an empty body (status 204)", NOT_THE_SERVICE],
    [
      "is empty and says gzip",
      [{ "content-encoding": "gzip" }, gzipSync("")],
      "an empty body",
      NOT_THE_SERVICE,
    ],
    [
      "is a web page",
      [{ "content-type": "text/html; charset=ISO-8859-1" }, "<p>canary</p>"],
      "a web page",
      NOT_THE_SERVICE,
    ],
    ["is in ISO-8859-1 and says so", [json("iso-8859-1"), latin1(CANARY)], says("iso-8859-1"), NOT_UTF8],
    [
      "is in UTF-16 and says so",
      [json('"utf-16le"'), Buffer.from(CANARY, "utf16le")],
      says("utf-16le"),
      NOT_UTF8,
    ],
    ["is in ISO-8859-1 and says UTF-8", [json("utf-8"), latin1(CANARY)], OTHER, NOT_UTF8],
    ["says a charset that there is not", [json("canary"), latin1(CANARY)], OTHER, NOT_UTF8],
    [
      "is in ISO-8859-1, begins with a line break, and says nothing",
      [{}, latin1(`\r\n ${CANARY}`)],
      OTHER,
      NOT_UTF8,
    ],
    [
      "is text in ISO-8859-1",
      [json("iso-8859-1"), latin1("canary München")],
      says("iso-8859-1"),
      NOT_THE_SERVICE,
    ],
    ["is text", [{}, "canary"], NO_JSON, NOT_THE_SERVICE],
    ["is no JSON in the middle", [{}, "{canary}"], NO_JSON, NOT_THE_SERVICE],
    [
      "is gzip and does not say so",
      [{}, gzipSync(CANARY)],
      "a body in gzip whose headers do not say so",
      `${CHANGED} Then run again.`,
    ],
    [
      "is cut by its Content-Length",
      [{ "content-length": "20" }, CANARY.slice(0, 20)],
      "a body that begins as JSON and ends in the middle of it",
      CUT,
    ],
  ])("is retried and named: it %s", async (_, answer, what, remedy) => {
    await using server = await sent(...answer);

    const { error, text } = await failedList({}, { baseUrl: server.url });

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: `GET /v1/events failed 6 times, the last time with ${what}. ${remedy}`,
    });
    expect(text).not.toContain("canary");
  });

  it("is read where its charset is not UTF-8, and its bytes are", async () => {
    await using server = await sent(json("iso-8859-1"), '{"data": []}');
    await using connection = await connect({}, { baseUrl: server.url });

    expect((await connection.service.list()).events).toHaveLength(0);
  });
});

describe("a content encoding", () => {
  it.each(["utf-8", "UTF8", "none", "identity", "", "none, utf-8"])("%j is none", async (encoding) => {
    await using server = await sent({ "content-encoding": encoding }, '{"data": []}');
    await using connection = await connect({}, { baseUrl: server.url });

    expect((await connection.service.list()).events).toHaveLength(0);
  });

  it("beside one that is none is decoded", async () => {
    await using server = await sent({ "content-encoding": "utf-8, gzip" }, gzipSync('{"data": []}'));
    await using connection = await connect({}, { baseUrl: server.url });

    expect((await connection.service.list()).events).toHaveLength(0);
  });

  it.each([
    ["deflate", "the content encoding deflate"],
    ["zstd", "the content encoding zstd"],
    ["gzip, br", "the content encoding gzip, br"],
    ["canary", "a content encoding that is not known"],
  ])("%s that was not asked for ends the run and is named", async (encoding, named) => {
    await using server = await sent({ "content-encoding": encoding }, deflateSync(CANARY));

    const { error, text } = await failedList({}, { baseUrl: server.url });

    expect(told(error)).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: `GET /v1/events was answered with a body in ${named} (accepted: gzip, br). ${CHANGED}`,
    });
    expect(text).not.toContain("canary");
  });

  it.each(["gzip", "br"])("that says %s, where nothing is encoded, is named", async (encoding) => {
    await using server = await sent({ "content-encoding": encoding }, CANARY);

    const { error, text } = await failedList({}, { baseUrl: server.url });

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message:
        "GET /v1/events failed 6 times, the last time with a body that says it is in the content encoding " +
        `${encoding}, and is not. ${CHANGED} Then run again.`,
    });
    expect(text).not.toContain("canary");
  });

  it("whose text is cut off is a body that broke off", async () => {
    const cut = gzipSync(CANARY).subarray(0, -9);
    await using server = await sent({ "content-encoding": "gzip" }, cut);
    await using connection = await connect({}, { baseUrl: server.url });

    const error = await errorOf(connection.service.detail(EVENT));

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message:
        `GET /v1/events/${EVENT} failed 6 times, the last time with a body that broke off (CUT_OFF). Check the ` +
        "network between here and the service. If it breaks off each time, its Content-Length may be wrong: ask the " +
        "service's operator. Then run again.",
    });
  });
});
