// `init`: asks for an account's address and credentials, writes the files that keep them, and tries them.

import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Check, FoundSetting } from "../../../lambdas/job/commands/check-service.ts";
import type {
  PasswordCredentials,
  ServiceCredentials,
} from "../../../lambdas/job/credentials/credentials.ts";
import { codeOf, type ErrorCode, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { accountName } from "../../../lambdas/job/settings/values.ts";
import { say } from "../../../lambdas/words/style.ts";
import { type OptionValues, SERVICE_OPTIONS, SETTINGS_FILE } from "../options/options.ts";
import { commandLineText, GivenOptions } from "../options/read-options.ts";
import { EXIT, systemReason } from "../output/exit-code.ts";
import { styleOf } from "../output/next-command.ts";
import { plural } from "../output/words.ts";
import { type CommandContext, command } from "../wiring/command.ts";
import { credentialsWork, openWarehouse, uncheckedMark } from "../wiring/open-warehouse.ts";
import { requireDisk } from "../wiring/warehouse-disk.ts";
import { type Tried, tryAccount } from "./check.ts";
import {
  addressesIn,
  type SettingsBefore,
  schemaBeside,
  settingsBefore,
  settingsWith,
  settingsWithAdvice,
} from "./init-settings.ts";
import {
  type Ask,
  askAuthUrl,
  askBaseUrl,
  askCredentials,
  askIsAll,
  askPassword,
  askToWrite,
  NOT_ALL,
  withAnswers,
} from "./questions.ts";

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

export const initCommand = command({
  name: "init",
  group: "Set up",
  summary: "ask for an account's address and credentials, write the files that keep them, and try them",
  options: OPTIONS,
  makesConfig: true,
  example: "init",
  execute: async (values, context) => {
    const { stderr } = context;
    const written = await withAnswers(context, (ask) => write(values, context, ask));
    stderr.lines([`Written: ${written.settings} and ${written.credentials}, which only you may read.`]);
    const { account, settings: config } = written;
    const readFile = (): GivenOptions => new GivenOptions({ account, config }, {}, context.cwd).withFile();
    const checked = (given: GivenOptions) => given.read([...SERVICE_OPTIONS, "lifted", "deep"]);
    const isHere = resolve(context.cwd, config) === join(context.cwd, SETTINGS_FILE);
    const { directory } = await openWarehouse(checked(readFile()), context);
    if (directory) await requireDisk(directory, { isUnattended: false, fresh: false, overDamaged: false });
    const next = (command: string): string =>
      commandLineText([command], isHere ? ["account"] : ["config", "account"], checked(readFile()));
    const steps = values.json ? stderr : context.stdout;
    const { login: first } = written;
    if (first.method === "oauth") {
      steps.lines([
        `Next, log in once in the browser: ${next("authorize")}`,
        `Then try it: ${next("check")}`,
      ]);
      if (values.json) context.stdout.json({ ok: true });
      return EXIT.done;
    }
    const here = (): CommandContext => {
      const given = readFile();
      return { ...context, given, style: styleOf(given), stdout: steps, result: (): void => undefined };
    };
    const check = (): Promise<Tried> => {
      const own = here();
      return tryAccount(checked(own.given), own);
    };
    let tried = await check();
    for (let left = TRIES - 1; left > 0 && isRefused(first, tried.checks) && context.stdin().isTTY; left--) {
      stderr.lines([
        `${plural(left, "more try", "more tries")}; a service may lock an account after wrong ones.`,
      ]);
      const login = await withAnswers({ ...context, environment: {} }, (ask) =>
        askPassword(first.method, undefined, ask, first.email),
      );
      await replace(written.credentials, credentialsText(login));
      tried = await check();
    }
    const { checks, exitCode } = await settle(tried, written, here(), check);
    const wrong = isRefused(first, checks)
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
});

/** Asks what only a person can say, and writes what they say, and what was tried and works. Without a terminal it does nothing. */
async function settle(
  first: Tried,
  { account, settings }: Written,
  context: CommandContext,
  check: () => Promise<Tried>,
): Promise<Tried> {
  const path = resolve(context.cwd, settings);
  let tried = first;
  for (const _ of ["listPointer", "detailPointer", "nextPage"] satisfies readonly FoundSetting["setting"][]) {
    const [advice] = tried.advice;
    if (advice === undefined || !(await askToWrite(context, advice, settings))) break;
    await writeSetting(path, account, advice);
    tried = await check();
  }
  if (!tried.isOpen) return tried;
  const isAll = await askIsAll(context);
  if (isAll) {
    await writeSetting(path, account, { setting: "nextPage", value: "all" });
    context.stderr.lines([`Written: "nextPage": "all" of the account ${account} in ${settings}.`]);
  } else if (isAll === false) context.stderr.lines([say(NOT_ALL, context.style)]);
  return tried;
}

async function writeSetting(path: string, account: string, advice: FoundSetting): Promise<void> {
  await replace(path, settingsWithAdvice(readFileSync(path, "utf8"), account, advice));
}

/** A service may lock an account after some more. */
const TRIES = 3;

/** What each method ends with where the service refuses what was typed. */
const REFUSALS = {
  session: "LOGIN_REFUSED",
  // There is no login: the first request is refused.
  basic: "UNAUTHENTICATED",
} as const satisfies Record<PasswordCredentials["method"], ErrorCode>;

const isRefused = ({ method }: PasswordCredentials, checks: readonly Check[]): boolean =>
  checks.some(({ code }) => code === REFUSALS[method]);

const credentialsText = (credentials: ServiceCredentials): string => `${JSON.stringify(credentials)}\n`;

interface Written {
  readonly account: string;
  readonly login: ServiceCredentials;
  readonly settings: string;
  readonly credentials: string;
}

async function write(values: Values, context: CommandContext, ask: Ask): Promise<Written> {
  const { cwd, given } = context;
  const title = given.configPath ?? SETTINGS_FILE;
  const path = resolve(cwd, title);
  const before = settingsBefore(path, title);
  const account = await ask(given.has("account") ? values.account : undefined, {
    name: "--account",
    words: "Account, a name of your own",
    fallback: "default",
    schema: accountName,
  });
  const credentials = join(dirname(path), "credentials", `${account}.json`);
  refuseKnownAccount(before, account, credentials, title);
  const known = addressesIn(before);
  const baseUrl = await askBaseUrl(values.baseUrl, known.baseUrl, context, ask);
  const login = await askCredentials(values, ask);
  const authUrl =
    login.method === "oauth" ? await askAuthUrl(values.authUrl, known.authUrl, ask) : values.authUrl;
  const added = { account, baseUrl, authUrl, credentials, warehouse: values.warehouse };
  const schema = before === undefined ? schemaBeside(path) : undefined;
  const text = settingsWith(before, { ...added, schema: schema?.file }, path);
  await writeCredentials(credentials, credentialsText(login), async () => {
    if (schema !== undefined && !existsSync(schema.file)) await create(schema.file, schema.text, 0o644);
    await (before === undefined ? create(path, text, 0o644) : replace(path, text));
  });
  return { account, login, settings: title, credentials };
}

/**
 * Only their owner may read them. Replaces no credentials but those that `init` has written itself, while no check has
 * passed with them. Those of a new account go again where `writeSettings` fails.
 */
async function writeCredentials(
  path: string,
  text: string,
  writeSettings: () => Promise<void>,
): Promise<void> {
  const isAgain = isUnchecked(path) && existsSync(path);
  if (isAgain) await replace(path, text);
  else await createCredentials(path, text);
  try {
    await writeSettings();
  } catch (error) {
    if (!isAgain) {
      await rm(path, { force: true });
      await credentialsWork(path);
    }
    throw error;
  }
}

/** Whether `init` may write these credentials again. */
const isUnchecked = (credentials: string): boolean => existsSync(uncheckedMark(credentials));

async function createCredentials(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 }).catch(failed(folder));
  // The folder of the credentials may lie in a repository.
  if (made !== undefined) await create(join(folder, ".gitignore"), "*\n");
  await create(path, text);
  await writeFile(uncheckedMark(path), "", { mode: 0o600 }).catch(failed(path));
}

/** `init` is given another name, or the file is moved away. */
function existsAlready(path: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `${path} exists already, and init replaces no file. Choose another name with --account, or move that file away.`,
  );
}

async function create(path: string, text: string, mode = 0o600): Promise<void> {
  await writeFile(path, text, { flag: "wx", mode }).catch((error: unknown) => {
    if (codeOf(error) === "EEXIST") throw existsAlready(path);
    return failed(path)(error);
  });
}

/** Keeps the file's mode, and a link to it. */
async function replace(link: string, text: string): Promise<void> {
  const path = await realpath(link).catch(failed(link));
  const { mode } = await stat(path).catch(failed(path));
  const written = `${path}.new`;
  await create(written, text);
  try {
    await chmod(written, mode);
    await rename(written, path);
  } catch (error) {
    await rm(written, { force: true });
    failed(path)(error);
  }
}

function failed(path: string): (error: unknown) => never {
  return (error) => {
    throw new SyncError(
      "STORE_FAILED",
      `Could not write ${path}: ${systemReason(error)}. Correct that, or choose another folder with --config.`,
      { cause: error },
    );
  };
}

function refuseKnownAccount(
  before: SettingsBefore | undefined,
  account: string,
  credentials: string,
  title: string,
): void {
  if (isUnchecked(credentials)) return;
  if (before !== undefined && Object.hasOwn(before.settings.accounts, account)) {
    throw new SyncError(
      "CONFIG_INVALID",
      `${title} has the account ${account} already, and init changes no account. Choose another name with --account, or change the account in ${title} with an editor. Nothing was written.`,
    );
  }
  if (existsSync(credentials)) throw existsAlready(credentials);
}
