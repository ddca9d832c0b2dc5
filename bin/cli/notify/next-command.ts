// The command that a person runs after a run, by how it ended.

import type { RunEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { commandLineText } from "../options/command-line-text.ts";
import { AUTHORIZE_OPTIONS, PLACE_OPTIONS, RUN_OPTIONS, SERVICE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";

export interface NextCommand {
  /** What the command is for: `To publish it anyway`. */
  readonly purpose: string;
  readonly command: string;
}

export type NextCommandValues = OptionValues<
  Exclude<(typeof SERVICE_OPTIONS)[number], "json" | "logLevel"> | (typeof RUN_OPTIONS)[number]
>;

export function nextCommand({ detailType, detail }: RunEvent, values: NextCommandValues): NextCommand {
  switch (detailType) {
    case "Snapshot Published":
      return {
        purpose: "To see what readers have",
        command: commandLineText(["status"], PLACE_OPTIONS, values),
      };
    case "Snapshot Held":
      return {
        purpose: "To publish it anyway",
        command: String(detail["accept_command"]),
      };
    case "Run Failed":
      return afterFailure(detail["error_code"], detail["finished"] === false, values);
  }
}

function afterFailure(code: unknown, isUnfinished: boolean, values: NextCommandValues): NextCommand {
  if (code === "AUTHORIZATION_EXPIRED") {
    return {
      purpose: "To authorize again",
      command: commandLineText(["authorize"], AUTHORIZE_OPTIONS, values),
    };
  }
  if (isUnfinished) {
    return {
      purpose: "To resume it",
      command: commandLineText(["run"], [...OF_THE_SERVICE, ...RUN_OPTIONS], values),
    };
  }
  return { purpose: "To find the cause", command: commandLineText(["check"], OF_THE_SERVICE, values) };
}

const OF_THE_SERVICE = SERVICE_OPTIONS.filter((name) => name !== "json" && name !== "logLevel");
