// The options of `npm run simulator`, and the errors in them.

import { parseArgs } from "node:util";
import type { DetailShape } from "./detail-endpoint.ts";
import type { ListShape } from "./list-endpoint.ts";
import type { SimulatorOptions } from "./settings.ts";
import { makeEvents } from "./simulated-event.ts";

export const DEFAULT_PORT = 8080;

export const USAGE = `Starts a simulated Brand Metrics Service on this computer.

Usage: npm run simulator -- [options]

  --events N               how many events it has (100)
  --port N                 where it listens; 0: any free port (${DEFAULT_PORT})
  --latency MS             how long each response takes, in milliseconds (0)
  --requests-per-minute N  answers 429 beyond this (no limit)
  --bytes-per-minute N     answers 429 beyond this (no limit)
  --shape SHAPE            of the list: array, data-array (default), data-map, data-events, result-items
  --detail-shape SHAPE     of one event: bare, data (default), data-event, result-item
  --page-size N            events on a page of the list (all on one)
  --help                   shows this

Example: npm run simulator -- --events 2000 --latency 50 --requests-per-minute 200
`;

const LIST_SHAPES: readonly ListShape[] = ["array", "data-array", "data-map", "data-events", "result-items"];
const DETAIL_SHAPES: readonly DetailShape[] = ["bare", "data", "data-event", "result-item"];

/** Undefined if help was requested. Throws an `Error` whose message is for the user. */
export const readCommandLine = (args: readonly string[]): SimulatorOptions | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: "string", default: "100" },
      port: { type: "string", default: String(DEFAULT_PORT) },
      latency: { type: "string", default: "0" },
      "requests-per-minute": { type: "string" },
      "bytes-per-minute": { type: "string" },
      shape: { type: "string", default: "data-array" },
      "detail-shape": { type: "string", default: "data" },
      "page-size": { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const requests = values["requests-per-minute"];
  const bytes = values["bytes-per-minute"];
  const pageSize = values["page-size"];
  return {
    events: makeEvents(whole("--events", values.events, 0, 1_000_000)),
    port: whole("--port", values.port, 0, 65_535),
    latencyMs: whole("--latency", values.latency, 0, 600_000),
    limits: {
      ...(requests === undefined ? {} : { requestsPerWindow: whole("--requests-per-minute", requests, 1) }),
      ...(bytes === undefined ? {} : { bytesPerWindow: whole("--bytes-per-minute", bytes, 1) }),
    },
    list: {
      shape: oneOf("--shape", values.shape, LIST_SHAPES),
      ...(pageSize === undefined ? {} : { pageSize: whole("--page-size", pageSize, 1) }),
    },
    detail: { shape: oneOf("--detail-shape", values["detail-shape"], DETAIL_SHAPES) },
  };
};

const whole = (option: string, text: string, least: number, most = Number.MAX_SAFE_INTEGER): number => {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`${option} is a whole number from ${least} to ${most}, not "${text}".`);
};

const oneOf = <T extends string>(option: string, text: string, choices: readonly T[]): T => {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new Error(`${option} is one of ${choices.join(", ")}, not "${text}".`);
};
