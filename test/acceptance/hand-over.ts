// The row that tries the state machine with a run that is finished.

import { executionName, parseExecutionName } from "../../lambdas/job/run/hand-over/executions.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { must, type Row, Skipped, until } from "./row.ts";

/** Hand-overs of a run count from 1, and an execution's name takes nine digits. */
const MOST_NUMBERS = 1e9;

export const HAND_OVER: Row = {
  name: "hand-over",
  does: "starts an execution of the state machine for a run that is finished; its events are sent again, without a mail",
  expects: "it ends at once, as succeeded, and changes nothing",
  remedy:
    'see the rows "state machine", "function" and "rights", and the execution in the console; runs longer than an invocation fail until this works. The alarm "execution" is over after a day',
  see: async ({ deployed, account, journal }) => {
    const { stepFunctions } = deployed.clients;
    const keys = layout(account);
    const finished = (await deployed.keys(keys.runs)).filter((key) => key.endsWith("/outcome.json"));
    const runId = finished.at(-1)?.split("/").at(-2);
    if (runId === undefined)
      throw new Skipped("no run of the account is finished, or its files have expired");
    const attempts = () => deployed.keys(`${keys.runLogs}${runId}-`);
    const before = await attempts();
    const name = executionName({ account, runId, n: Math.floor(Date.now() / 1_000) % MOST_NUMBERS });
    must(parseExecutionName(name) !== undefined, `${name} names no execution`);
    const stateMachineArn = deployed.output("StateMachineArn");
    const executionArn = `${stateMachineArn.replace(":stateMachine:", ":execution:")}:${name}`;
    return journal.during({ kind: "execution", arn: executionArn }, async () => {
      const input = JSON.stringify({ account, runId, turn: 0 });
      await stepFunctions.startExecution({ stateMachineArn, name, input });
      const end = await until("the end of the execution", 5, async () => {
        const execution = await stepFunctions.describeExecution({ executionArn });
        return execution.status === "RUNNING" ? undefined : execution;
      });
      must(end.status === "SUCCEEDED", [end.status, end.error, end.cause].filter(Boolean).join(": "));
      must((await attempts()).length === before.length, "the run was continued, although it was finished");
      return `${end.status} for the run ${runId}`;
    });
  },
};
