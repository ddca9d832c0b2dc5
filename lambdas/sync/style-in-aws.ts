// How settings and commands are spelled in answers, logs and mails: for a shell with credentials for the AWS account.

import { shellWord } from "../job/errors/shown-text.ts";
import type { ListDoubt, ListTrial } from "../job/service/event-service.ts";
import { doubtText } from "../words/doubt.ts";
import { awsStyle, type Style } from "../words/style.ts";
import type { FunctionEnvironment } from "./environment.ts";
import type { Invocation } from "./function-ports.ts";

/** Where the function is. */
type Deployed = Pick<FunctionEnvironment, "region" | "functionName">;
export type Environment = Deployed & Pick<FunctionEnvironment, "accounts" | "program">;

/** How settings and commands are spelled in answers and logs. */
export function styleInAws(environment: Environment, account: string, invoke = invokeCommand): Style {
  const { secretId, tokensSecretId, authUrl } = environment.accounts[account] ?? {};
  const options = {
    "--auth-url": authUrl,
    "--credentials": `secretsmanager:${secretId}`,
    "--tokens": `secretsmanager:${tokensSecretId}`,
  };
  const words = Object.entries(options).flatMap(([option, value]) => [option, shellWord(String(value))]);
  return awsStyle(account, {
    invoke: (input) => invoke(environment, input),
    authorize: authUrl === undefined ? undefined : [environment.program, "authorize", ...words].join(" "),
  });
}

/** In an answer, what is said of a list that may be a part only; what was tried where that is given. */
export function doubtInAws(
  doubt: ListDoubt | undefined,
  { style, settings: { nextPage } }: Pick<Invocation, "style" | "settings">,
  trial?: { readonly found: ListTrial | undefined },
): { readonly doubt?: string } {
  const said = doubtText(doubt, { nextPage, style, trial });
  return said === undefined ? {} : { doubt: said };
}

/** The command needs a shell with credentials for the AWS account. */
export function invokeCommand({ region, functionName }: Deployed, input: object): string {
  return [
    "aws lambda invoke",
    ...["--region", region, "--function-name", `${functionName}:live`].map(shellWord),
    "--cli-read-timeout 900 --cli-binary-format raw-in-base64-out",
    `--payload ${shellWord(JSON.stringify(input))} /dev/stdout`,
  ].join(" ");
}

/**
 * The same for a mail. It has no double quotes, which would have a backslash before them there, so the input is in base64.
 */
export function mailedCommand(
  { region, functionName }: Deployed,
  input: object,
  options = "--cli-read-timeout 900",
): string {
  const payload = Buffer.from(JSON.stringify(input)).toString("base64");
  return `aws lambda invoke --region ${region} --function-name ${functionName}:live ${options} --cli-binary-format base64 --payload ${payload} /dev/stdout`;
}
