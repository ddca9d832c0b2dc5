// `init`: asks for an account's address and credentials, writes the files that keep them, and tries them.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  authUrl as authUrlSchema,
  baseUrl as baseUrlSchema,
} from "../../../lambdas/job/settings/addresses.ts";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { accountName } from "../../../lambdas/job/settings/values.ts";
import { placeBeside } from "../../../lambdas/job/settings-file/places.ts";
import { Answers, askCredentials, Questions, readSecretLine } from "../init/questions.ts";
import {
  existsAlready,
  refuseKnownAccount,
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
import { checkCommand } from "./check.ts";
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
    const { stdin, stderr, signal, cwd, configPath } = context;
    const input = stdin();
    const questions = input.isTTY ? new Questions({ input, terminal: stderr, signal }) : undefined;
    const written = await write(
      values,
      context,
      new Answers(questions, () => readSecretLine(input, signal)),
    ).finally(() => questions?.close());
    stderr.lines([`Written: ${written.settings} and ${written.credentials}, which only you may read.`]);
    const file = openSettingsFile(configPath, cwd);
    const checked = readOptions(checkCommand.options, { account: written.account }, {}, file);
    const next = (command: string): string => commandLineText([command], ["config", "account"], checked);
    const steps = values.json ? stderr : context.stdout;
    if (written.method === "oauth") {
      steps.lines([
        `Next, log in once in the browser: ${next("authorize")}`,
        `Then try it: ${next("check")}`,
      ]);
      if (values.json) context.stdout.json({ ok: true });
      return EXIT.done;
    }
    const exitCode = await checkCommand.execute(
      checked,
      { ...context, stdout: steps, result: () => undefined },
      "",
    );
    steps.lines(
      exitCode === EXIT.done
        ? [`Next, make the first snapshot: ${next("run")}`]
        : [`Correct ${written.settings} or ${written.credentials}, then try again: ${next("check")}`],
    );
    if (values.json) context.stdout.json({ ok: exitCode === EXIT.done });
    return exitCode;
  },
  failureJson: () => ({ ok: false }),
};

interface Written {
  readonly account: string;
  readonly method: "session" | "basic" | "oauth";
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
  refuseKnownAccount(before, account, place);
  const credentials = join(dirname(place.path), "credentials", `${account}.json`);
  if (existsSync(credentials)) throw existsAlready(credentials);
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
  const warehouse = placeBeside(resolve(cwd, SETTINGS_FILE), values.warehouse);
  const added = { account, baseUrl, authUrl, credentials, warehouse, schema: schemaFile() };
  await writeAccountFiles({
    credentials: { path: credentials, text: `${JSON.stringify(given)}\n` },
    settings: { path: place.path, text: settingsWith(before, added, place), isNew: before === undefined },
  });
  return { account, method: given.method, settings: title, credentials };
}
