// A deployment as the acceptance finds it: the resources of the template on the emulator, and before it what answers for
// CloudFormation, for the function and its state machine, and for IAM's simulation.

import { z } from "zod";
import { AwsProxy, type Carried, type Fault, jsonResponse, queryResponse } from "../aws/aws-proxy.ts";
import { awsConfig, emulator } from "../aws/emulator.ts";
import type { Deployment } from "../e2e/deployment.ts";
import { isAllowed, parseStatements } from "../e2e/policy.ts";
import { statesResponse } from "../states/states-response.ts";
import { type Clients, newClients } from "./deployment.ts";
import { makeResources } from "./made-resources.ts";

const bodySchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string() })),
  Outputs: z.record(z.string(), z.unknown()),
});

export interface EmulatedStack extends AsyncDisposable {
  readonly url: string;
  /** Of the acceptance: they see what it sees. */
  readonly clients: Clients;
  /**
   * What Lambda and Step Functions answer, by the end of the path or the name of the call. The emulator has no function
   * with an alias of its own. Undefined for what is not there; a test changes it.
   */
  readonly recorded: Map<string, object>;
}

export async function emulatedStack(deployment: Deployment): Promise<EmulatedStack> {
  const { template } = deployment;
  await makeResources(deployment, newClients({}, awsConfig()));
  const { Resources, Outputs } = bodySchema.parse(JSON.parse(template.body));
  const resources = Object.entries(Resources).map(([id, { Type }]) => ({
    LogicalResourceId: id,
    PhysicalResourceId: String(template.resolve({ Ref: id })),
    ResourceType: Type,
    ResourceStatus: "CREATE_COMPLETE",
    LastUpdatedTimestamp: "2026-11-23T00:00:00Z",
  }));
  const stack = {
    StackName: "Stack",
    StackId: template.resolve({ Ref: "AWS::StackId" }),
    StackStatus: "CREATE_COMPLETE",
    CreationTime: "2026-11-23T00:00:00Z",
    Outputs: Object.keys(Outputs).map((key) => ({ OutputKey: key, OutputValue: template.output(key) })),
  };
  const answers: Readonly<Record<string, object>> = {
    DescribeStacks: { Stacks: [stack] },
    ListStackResources: { StackResourceSummaries: resources },
    GetTemplate: { TemplateBody: template.body },
  };
  const recorded = recordedAnswers(deployment);
  const proxy = await AwsProxy.start(emulator());
  const clients = newClients({}, awsConfig(proxy.url));
  proxy.fault = async (asked, carried) => {
    const { headers, body } = carried;
    const form = new URLSearchParams(body.toString());
    const action = form.get("Action") ?? "";
    if (headers.authorization?.includes("/cloudformation/"))
      return queryResponse(action, answers[action] ?? {});
    if (action === "SimulatePrincipalPolicy") return queryResponse(action, await simulated(clients, form));
    if (asked.url.includes("/invocations")) return invoked(deployment, headers, body);
    const call = asked.action ?? "";
    // Nothing is delivered: what rules match and send is not shown here.
    if (call.endsWith(".PutEvents")) return { status: 200, body: '{"FailedEntryCount":0}' };
    if (asked.url.includes("/functions/") || call.endsWith(".DescribeStateMachine")) {
      const key = [...recorded.keys()].find((each) => `${asked.url.split("?")[0]} ${call}`.includes(each));
      const answer = recorded.get(key ?? "");
      return answer === undefined
        ? jsonResponse("ResourceNotFoundException", "It is not there", 404)
        : { status: 200, body: JSON.stringify(answer), headers: { "content-type": "application/json" } };
    }
    return statesResponse(deployment.stateMachine.engine, asked, carried);
  };
  return { url: proxy.url, clients, recorded, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

/** As AWS documents them, filled from the template. */
function recordedAnswers({ template }: Deployment): Map<string, object> {
  const of = (type: string) => JSON.parse(JSON.stringify(template.resolve(template.one(type).properties)));
  const { DestinationConfig, ...invocations } = of("AWS::Lambda::EventInvokeConfig");
  const { Action, FunctionName: Resource, Principal, SourceArn } = of("AWS::Lambda::Permission");
  const ArnLike = { "AWS:SourceArn": SourceArn };
  const statement = { Sid: "1", Effect: "Allow", Principal: { Service: Principal }, Action, Resource };
  const machine = of("AWS::StepFunctions::StateMachine");
  return new Map<string, object>([
    ["/configuration", { ...of("AWS::Lambda::Function"), State: "Active" }],
    ["/aliases/live", { ...of("AWS::Lambda::Alias"), Description: "" }],
    ["/event-invoke-config", { ...invocations, DestinationConfig: { OnSuccess: {}, ...DestinationConfig } }],
    ["/policy", { Policy: JSON.stringify({ Statement: [{ ...statement, Condition: { ArnLike } }] }) }],
    [
      "DescribeStateMachine",
      {
        stateMachineArn: template.output("StateMachineArn"),
        name: machine.StateMachineName,
        status: "ACTIVE",
        type: machine.StateMachineType,
        definition: machine.DefinitionString,
        roleArn: machine.RoleArn,
        creationDate: 1_795_000_000,
      },
    ],
  ]);
}

/** By the inline policies that the role has on the emulator, decided as the tests of the function's calls decide. */
async function simulated({ iam }: Clients, form: URLSearchParams): Promise<object> {
  const all = (name: string) =>
    [...form].flatMap(([key, value]) => (key.startsWith(`${name}.member.`) ? [value] : []));
  const RoleName = form.get("PolicySourceArn")?.split("/").at(-1) ?? "";
  const { PolicyNames = [] } = await iam.listRolePolicies({ RoleName });
  const documents = PolicyNames.map(async (PolicyName) => {
    const { PolicyDocument = "" } = await iam.getRolePolicy({ RoleName, PolicyName });
    const { Statement } = z
      .object({ Statement: z.unknown() })
      .parse(JSON.parse(decodeURIComponent(PolicyDocument)));
    return parseStatements(Statement);
  });
  const statements = (await Promise.all(documents)).flat();
  const conditions = Object.fromEntries(
    Array.from({ length: 5 }, (_, n) => `ContextEntries.member.${n + 1}`).flatMap((entry) => {
      const key = form.get(`${entry}.ContextKeyName`);
      return key === null ? [] : [[key, form.get(`${entry}.ContextKeyValues.member.1`) ?? ""]];
    }),
  );
  const EvaluationResults = all("ActionNames").map((action) => ({
    EvalActionName: action,
    EvalDecision: isAllowed(statements, { action, resources: all("ResourceArns"), conditions })
      ? "allowed"
      : "implicitDeny",
  }));
  return { EvaluationResults, IsTruncated: false };
}

/** As the Invoke API of Lambda: at once for an event, else with the answer. */
async function invoked(deployment: Deployment, headers: Carried["headers"], body: Buffer): Promise<Fault> {
  const event: unknown = JSON.parse(body.toString());
  if (headers["x-amz-invocation-type"] === "Event") {
    void deployment.function.deliver(event);
    return { status: 202, body: "" };
  }
  const result = await deployment.function.invoke(event);
  if (result.ok) return { status: 200, body: JSON.stringify(result.payload) };
  const { errorType, errorMessage } = result;
  return {
    status: 200,
    body: JSON.stringify({ errorType, errorMessage }),
    headers: { "x-amz-function-error": "Unhandled" },
  };
}
