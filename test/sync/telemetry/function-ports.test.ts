import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { expect, test } from "vitest";
import type { RunEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { eventBridgeSender } from "../../../lambdas/sync/function-ports.ts";
import { progressLog } from "../../../lambdas/sync/handle-request.ts";
import { LogLines } from "../../job/runtime/log-lines.ts";
import { httpServer } from "../../job/service/http/local-server.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";

test("progress is logged once a minute", () => {
  const clock = new ManualClock(0);
  const log = new LogLines();
  const onProgress = progressLog(log, clock);

  for (let done = 0; done <= 300; done += 1) {
    onProgress({ done, total: 300, retries: 2 });
    clock.advance(500);
  }

  expect(log.lines).toEqual([
    'info 120 of 300 events are done {"done":120,"total":300,"retries":2}',
    'info 240 of 300 events are done {"done":240,"total":300,"retries":2}',
  ]);
});

const EVENT: RunEvent = {
  detailType: "Snapshot Published",
  detail: { account: "uk", publication: "0000000001" },
};

/** A bus that keeps what it gets, and its responses. */
async function bus(answer: object, status = 200) {
  const sent: unknown[] = [];
  const server = await httpServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    sent.push(JSON.parse(text));
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(answer));
  });
  const client = new EventBridgeClient({
    endpoint: server.url,
    region: "eu-west-1",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    maxAttempts: 1,
  });
  const sendEvent = eventBridgeSender(client, "Platform_Events");
  return { sent, sendEvent, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test("an event is sent with the source of this project and the workgroup of its deployment", async () => {
  await using target = await bus({ FailedEntryCount: 0, Entries: [{ EventId: "1" }] });

  await target.sendEvent(EVENT);

  expect(target.sent).toEqual([
    {
      Entries: [
        {
          EventBusName: "default",
          Source: "brand-events-sync",
          DetailType: "Snapshot Published",
          Detail: '{"account":"uk","publication":"0000000001","workgroup":"Platform_Events"}',
        },
      ],
    },
  ]);
});

test("a refused entry in a response with status 200 is an error", async () => {
  await using target = await bus({ FailedEntryCount: 1, Entries: [{ ErrorCode: "InternalFailure" }] });

  await expect(target.sendEvent(EVENT)).rejects.toThrow("InternalFailure");
});

test("a refused call is an error", async () => {
  await using target = await bus({ __type: "AccessDeniedException" }, 400);

  await expect(target.sendEvent(EVENT)).rejects.toThrow(
    expect.objectContaining({ name: "AccessDeniedException" }),
  );
});
