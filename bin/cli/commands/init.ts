// `init`: asks for an account's address and credentials, writes the files that keep them, and tries them.

import { dirname, join, resolve } from "node:path";
import type { ServiceCredentials } from "../../../lambdas/job/credentials/credentials.ts";
import type { Check } from "../../../lambdas/job/run/check.ts";
import {
  authUrl as authUrlSchema,
  baseUrl as baseUrlSchema,
} from "../../../lambdas/job/settings/addresses.ts";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { accountName } from "../../../lambdas/job/settings/values.ts";
import { Answers, askCredentials, askPassword, Questions, readSecretLine } from "../init/questions.ts";
import {
  refuseKnownAccount,
  replace,
  schemaFile,
  settingsBefore,
  settingsWith,
  writeAccountFiles,
} from "../init/write-account-files.ts";
import { commandLineText } from "../options/command-line-text.ts";
import type { OptionValues } from "../options/options.ts";
import { readOptions } from "../options/read-options.ts";
import { openSettingsFile, SETTINGS_FILE } from "../options/settings-file.ts";
import { EXIT } from "../output/exit-code.ts";
import type { CommandContext } from "../wiring/command-context.ts";
import { checkCommand, exitCodeOf, tryAccount } from "./check.ts";
import type { CommandSpec } from "./command.ts";

const OPTIONS = [
  "config",
  "baseUrl",
  "account",
  "method",
  "email",
  "clientId",
  "authUrl",
  "warehouse",
  "json",
] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

export const initCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "init",
  summary: "ask for an account's address and credentials, write the files that keep them, and try them",
  options: OPTIONS,
  makesConfig: true,
  example: "init",
  execute: async (values, context) => {
    const { stderr, cwd, configPath } = context;
    const written = await withAnswers(context, (answers) => write(values, context, answers));
    stderr.lines([`Written: ${written.settings} and ${written.credentials}, which only you may read.`]);
    const file = openSettingsFile(configPath, cwd);
    const checked = readOptions(checkCommand.options, { account: written.account }, {}, file, { cwd });
    const next = (command: string): string => commandLineText([command], ["config", "account"], checked);
    const steps = values.json ? stderr : context.stdout;
    if (written.login.method === "oauth") {
      steps.lines([
        `Next, log in once in the browser: ${next("authorize")}`,
        `Then try it: ${next("check")}`,
      ]);
      if (values.json) context.stdout.json({ ok: true });
      return EXIT.done;
    }
    const trial = { ...context, stdout: steps, result: (): void => undefined };
    let checks = await tryAccount(checked, trial);
    for (let tries = 1; tries < TRIES && isRefused(written, checks) && context.stdin().isTTY; tries += 1) {
      const password = await withAnswers(context, (answers) => askPassword(answers, undefined));
      await replace(written.credentials, credentialsText({ ...written.login, password }));
      checks = await tryAccount(checked, trial);
    }
    const exitCode = exitCodeOf(checks);
    const wrong = isRefused(written, checks)
      ? `the password or the e-mail address in ${written.credentials}`
      : `${written.settings} or ${written.credentials}`;
    steps.lines(
      exitCode === EXIT.done
        ? [
            `Next, see which fields the events have: ${next("discover")}`,
            `Then make the first snapshot: ${next("run")}`,
          ]
        : [`Correct ${wrong}, or start init again for this account. Then try again: ${next("check")}`],
    );
    if (values.json) context.stdout.json({ ok: exitCode === EXIT.done });
    return exitCode;
  },
  failureJson: () => ({ ok: false }),
};

/** A service may lock an account after some more. */
const TRIES = 3;

/** With the method basic there is no login: the first request is refused. */
const isRefused = ({ login }: Written, checks: readonly Check[]): boolean =>
  checks.some(({ code }) => code === (login.method === "basic" ? "UNAUTHENTICATED" : "LOGIN_REFUSED"));

const credentialsText = (credentials: ServiceCredentials): string => `${JSON.stringify(credentials)}\n`;

async function withAnswers<T>(
  { stdin, stderr, signal }: Pick<CommandContext, "stdin" | "stderr" | "signal">,
  work: (answers: Answers) => Promise<T>,
): Promise<T> {
  const input = stdin();
  const questions = input.isTTY ? new Questions({ input, terminal: stderr, signal }) : undefined;
  const answers = new Answers(questions, () => readSecretLine(input, signal));
  return await work(answers).finally(() => questions?.close());
}

interface Written {
  readonly account: string;
  readonly login: ServiceCredentials;
  readonly settings: string;
  readonly credentials: string;
}

async function write(values: Values, context: CommandContext, answers: Answers): Promise<Written> {
  const { cwd, configPath, isGiven, secrets } = context;
  const title = configPath ?? SETTINGS_FILE;
  const place = { title, path: resolve(cwd, title) };
  const before = settingsBefore(place);
  const account = await answers.get(isGiven("account") ? values.account : undefined, {
    name: "--account",
    words: "Account, a name of your own",
    fallback: "default",
    parse: (text) => parseSetting(accountName, text),
  });
  const credentials = join(dirname(place.path), "credentials", `${account}.json`);
  refuseKnownAccount(before, { account, credentials }, place);
  const baseUrl = await answers.get(values.baseUrl, {
    name: "--base-url",
    words: "Address of the service",
    parse: (text) => parseSetting(baseUrlSchema, text),
  });
  const given = await askCredentials(values, secrets, answers);
  const authUrl =
    given.method === "oauth"
      ? await answers.get(values.authUrl, {
          name: "--auth-url",
          words: "Address of the identity provider",
          parse: (text) => parseSetting(authUrlSchema, text),
        })
      : values.authUrl;
  const added = {
    account,
    baseUrl,
    authUrl,
    credentials,
    warehouse: values.warehouse,
    schema: schemaFile(),
  };
  await writeAccountFiles({
    credentials: { path: credentials, text: credentialsText(given) },
    settings: { path: place.path, text: settingsWith(before, added, place), isNew: before === undefined },
  });
  return { account, login: given, settings: title, credentials };
}
