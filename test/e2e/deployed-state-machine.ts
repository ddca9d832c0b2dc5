// The state machine of the template with the function behind it, and the rule on executions that did not succeed.

import { z } from "zod";
import type { TaskResult } from "../states/execution.ts";
import { SkippingClock } from "../states/skipping-clock.ts";
import { StatesEngine, type StatusChange } from "../states/states-engine.ts";
import { EventRule } from "./event-rule.ts";
import type { InvocationResult } from "./execution-environment.ts";
import type { LambdaFunction } from "./lambda-function.ts";
import type { Template } from "./template.ts";

const machineSchema = z.object({
  StateMachineName: z.string(),
  StateMachineType: z.literal("STANDARD"),
  DefinitionString: z.string(),
});

export class DeployedStateMachine {
  readonly engine: StatesEngine;
  /** Its waits take no time. */
  readonly clock = new SkippingClock(Date.now());
  /** Runs the turns and gets the events. */
  function: Pick<LambdaFunction, "invoke" | "deliver">;
  /** The time limit of each turn; undefined for the function's own. */
  turnTimeoutMs: number | undefined;
  /** The errors of turns that failed, in their order. */
  readonly failures: string[] = [];
  /** The responses to the events of the rule. */
  readonly abandoned: InvocationResult[] = [];
  readonly #alias: string;
  readonly #rule: EventRule;
  readonly #deliveries = new Set<Promise<unknown>>();

  /** @param alias the ARN that the template's alias was made with. */
  constructor(template: Template, lambda: LambdaFunction, alias: string, stateMachineArn: string) {
    const resolved = machineSchema.parse(
      template.resolve(template.one("AWS::StepFunctions::StateMachine").properties),
    );
    if (!stateMachineArn.endsWith(`:stateMachine:${resolved.StateMachineName}`)) {
      throw new Error(
        `the function hands runs over to ${stateMachineArn}, which is not ${resolved.StateMachineName}`,
      );
    }
    this.function = lambda;
    this.#alias = alias;
    this.#rule = new EventRule(template.resolve(ruleOnExecutions(template)));
    this.engine = new StatesEngine({
      stateMachineArn,
      definition: JSON.parse(resolved.DefinitionString),
      clock: this.clock,
      random: () => 0.5,
      invoke: (resource, payload) => this.#invoke(resource, payload),
      onChange: (change) => this.#announce(change),
    });
  }

  /** Resolves when no execution is under way and every event was delivered. */
  async settled(): Promise<void> {
    await this.engine.idle();
    await this.delivered();
  }

  /** Resolves when every event so far was delivered. */
  async delivered(): Promise<void> {
    await Promise.all(this.#deliveries);
  }

  async #invoke(resource: string, payload: unknown): Promise<TaskResult> {
    if (resource !== this.#alias) throw new Error(`${resource} is not the function's alias`);
    const limit = this.turnTimeoutMs === undefined ? {} : { timeoutMs: this.turnTimeoutMs };
    const result = await this.function.invoke(payload, limit);
    if (result.ok) return result;
    const { errorType, errorMessage } = result;
    this.failures.push(errorType);
    // As the engine passes on the error of a function.
    return { ok: false, error: errorType, cause: JSON.stringify({ errorMessage, errorType }) };
  }

  #announce(detail: StatusChange): void {
    const event = { source: "aws.states", "detail-type": "Step Functions Execution Status Change", detail };
    if (!this.#rule.matches(event)) return;
    if (this.#rule.target !== this.#alias)
      throw new Error(`${this.#rule.target} is not the function's alias`);
    this.#deliveries.add(
      this.function
        .deliver(this.#rule.inputFor(event), { retryDelaysMs: [1, 1] })
        .then((results) => this.abandoned.push(...results)),
    );
  }
}

/** The other rules send mails. */
function ruleOnExecutions(template: Template): unknown {
  const pattern = z.object({ EventPattern: z.object({ source: z.tuple([z.literal("aws.states")]) }) });
  const rule = template
    .all("AWS::Events::Rule")
    .find(({ properties }) => pattern.safeParse(properties).success);
  if (rule === undefined) throw new Error("the template has no rule on executions");
  return rule.properties;
}
