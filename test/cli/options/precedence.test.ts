// Where a value comes from: option, environment variable, the account's key, the key for all, default, in this order. Wherever
// the same settings are given, they have the same fingerprint, so that each place resumes the work of the others.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import {
  AUTHORIZE_OPTIONS,
  longName,
  NOTIFY_OPTIONS,
  OPTIONS,
  type OptionName,
  RUN_OPTIONS,
  SERVICE_OPTIONS,
  variableName,
} from "../../../bin/cli/options/options.ts";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { givenSettings } from "../../../bin/cli/wiring/service-ports.ts";
import { shapeOfPlan } from "../../../lambdas/job/run/collect/unfinished-run.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import { ACCOUNT_SETTINGS } from "../../../lambdas/job/settings-file/settings.ts";
import { SHARED_SETTINGS } from "../../../lambdas/job/settings-file/settings-schema.ts";
import {
  accountRunSettings,
  environmentOf,
  type FunctionFile,
  functionFileText,
  readEnvironment,
} from "../../../lambdas/sync/environment.ts";
import { parseSettings } from "../../../lib/settings.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

type Value = string | number | readonly string[];

/** Four values of each option that differ from one another and from the default. */
const VALUES: Partial<Record<OptionName, readonly Value[]>> = {
  baseUrl: ["https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"],
  authUrl: ["https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"],
  credentials: ["/a.json", "/b.json", "secretsmanager:c", "/d.json"],
  tokens: ["/a.json", "/b.json", "secretsmanager:c", "/d.json"],
  warehouse: ["/a", "s3://bucket-b/b", "/c", "s3://bucket-d"],
  requestsPerMinute: [1, 2, 3, "unlimited"],
  bytesPerMinute: [1, "unlimited", 3, 4],
  limitWindowSeconds: [10, 20, 30, 40],
  concurrency: [1, 2, 3, 4],
  isListed: ["any", "false", "any", "false"],
  listPointer: ["/a", "/b", "/c", "/d"],
  nextPage: ["links", "none", "page={page}", "after={last}"],
  detailPointer: ["/a", "/b", "/c", "/d"],
  maxDropPercent: [1, 2, 3, 4.5],
  maxGrowthPercent: [0, 2, 300, 4.5],
  maxMissingPercent: [0, 2, 3, 4.5],
  require: [["/a"], ["/b", "/c"], ["/d"], []],
  resumeWithinMinutes: [0, 2, 3, 4],
  retainDays: [1, 2, 3, 4],
  notifyUrl: ["https://a.example/", "https://b.example/", "https://c.example/", "https://d.example/"],
  notifyLink: ["https://a.example", "https://b.example", "https://c.example", "https://d.example"],
  notifyOn: [["published"], ["held"], ["failed"], ["published", "held"]],
  database: ["a", "b", "c", "d"],
};

/** What a file may say for all accounts or for one, and an option as well. */
const KEYS = Object.entries({ ...ACCOUNT_SETTINGS, ...SHARED_SETTINGS }).flatMap(([key, setting]) =>
  "flag" in setting ? [key] : [],
);

async function withFile(
  settings: object,
  onCommandLine: object,
  variables: Readonly<Record<string, string>>,
): Promise<GivenOptions> {
  const cwd = await temporaryDirectory();
  writeFileSync(join(cwd, "brand-events.json"), JSON.stringify(settings));
  return new GivenOptions({ ...onCommandLine }, variables, cwd).withFile();
}

/** As an option or a variable has it. */
const textOf = (name: string, value: Value | undefined): string =>
  name === "require" ? JSON.stringify(value) : String(value);

describe.each(Object.entries(VALUES) as [OptionName, readonly Value[]][])(
  "%s comes from",
  (name, [first, second, third, fourth]) => {
    const attribute = longName(name).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const options = { [attribute]: textOf(name, first) };
    const environment = { [variableName(name)]: textOf(name, second) };
    const [own, common] = name === "database" ? [{}, third] : [{ [name]: third }, fourth];

    test("its default", async () => {
      const options = await withFile({ accounts: { uk: {}, us: {} } }, { account: "uk" }, {});

      const values = options.read(["config", "account", name]);

      expect(values[name]).toEqual(
        new GivenOptions({}, {}, dirname(values.config?.path ?? "")).read([name])[name],
      );
    });

    test.each<[string, object, Record<string, string>, object, object, unknown]>([
      ["the option, before all others", options, environment, own, { [name]: common }, first],
      ["the variable, before the file", {}, environment, own, { [name]: common }, second],
      ["the key of the account", {}, {}, own, { [name]: common }, third],
      ["the key for all accounts", {}, {}, {}, { [name]: common }, common],
    ])("%s", async (_, given, variables, ofAccount, atTop, expected) => {
      const settings = { ...atTop, accounts: { uk: ofAccount, us: {} } };
      const options = await withFile(settings, { ...given, account: "uk" }, variables);

      const values = options.read(["config", "account", name]);

      expect(values[name]).toEqual(expected);
    });
  },
);

test.each<[string, object, Record<string, string>, object, unknown]>([
  ["the options", { lift: ["a=/a"] }, { BRAND_LIFT: '["b=/b"]' }, [{ name: "c", pointer: "/c" }], "a"],
  ["the variable", {}, { BRAND_LIFT: '["b=/b"]' }, [{ name: "c", pointer: "/c" }], "b"],
  ["the file", {}, {}, [{ name: "c", pointer: "/c" }], "c"],
])("the columns come from %s", async (_, given, variables, lifted, expected) => {
  const options = await withFile({ lifted, accounts: { uk: {} } }, given, variables);

  const { lifted: found } = options.read(["config", "account", "lifted"]);

  expect(found).toEqual([{ name: expected, pointer: `/${expected}` }]);
});

test("every key that has an option is tried here", () => {
  expect([...Object.keys(VALUES), "lifted"].toSorted()).toEqual(KEYS.toSorted());
});

test("every option that says where or how is in the file, but for the account and what is of one command", () => {
  const named = new Set<OptionName>([
    ...SERVICE_OPTIONS,
    ...RUN_OPTIONS,
    ...AUTHORIZE_OPTIONS,
    ...NOTIFY_OPTIONS,
  ]);

  expect([...named].filter((name) => !KEYS.includes(name)).toSorted()).toEqual([
    "account",
    "config",
    "json",
    "logLevel",
  ]);
  expect(KEYS.filter((name) => !Object.hasOwn(OPTIONS, name))).toEqual([]);
});

test("paths start from the file, other places stay", async () => {
  const cwd = await temporaryDirectory();
  const places = { warehouse: "s3://bucket/a", credentials: "../uk.json", tokens: "secretsmanager:uk" };
  writeFileSync(
    join(cwd, "brand-events.json"),
    JSON.stringify({ warehouse: "data", accounts: { uk: places, us: {} } }),
  );
  const names = ["config", "account", "warehouse", "credentials", "tokens"] as const;
  const config = join(cwd, "brand-events.json");
  const options = new GivenOptions({ config }, {}, "/elsewhere").withFile();

  const uk = options.ofAccount("uk").read(names);
  const us = options.ofAccount("us").read(names);

  expect(uk).toMatchObject({ ...places, credentials: join(cwd, "..", "uk.json") });
  expect(us).toMatchObject({ warehouse: join(cwd, "data"), credentials: "/elsewhere/credentials.json" });
});

interface Given {
  readonly baseUrl: string;
  readonly isListed: "true" | "any";
  readonly listPointer: string;
  readonly detailPointer: string;
  readonly lifted: readonly { readonly name: string; readonly pointer: string }[];
}

const fingerprint = (settings: RunSettings): string => shapeOfPlan("uk", settings).fingerprint;

const BRAND = { name: "brand", pointer: "/brand/name" };
const SECTOR = { name: "sector", pointer: "/sector" };
const SHAPE = {
  isListed: "any",
  listPointer: "/a",
  detailPointer: "",
  lifted: [BRAND, SECTOR],
} as const;

// The canonical form of an address: `test/job/settings/values.test.ts`.
const ADDRESSES: readonly [given: string, canonical: string][] = [
  ["https://s.example", "https://s.example/"],
  [" https://s.example//v1/events\n", "https://s.example/"],
  ["HTTPS://S.EXAMPLE.:443/Brands/v1/", "https://s.example/Brands"],
];

const OF_A_RUN = [...SERVICE_OPTIONS, ...RUN_OPTIONS];

const liftTexts = ({ lifted }: Given): readonly string[] =>
  lifted.map(({ name, pointer }) => `${name}=${pointer}`);

function byOptions(given: Given): RunSettings {
  const { lifted, ...others } = given;
  const options = { ...others, account: "uk", lift: liftTexts(given) };
  return givenSettings(new GivenOptions(options, {}, "/").read(OF_A_RUN), "/");
}

function byVariables(given: Given): RunSettings {
  const variables = {
    BRAND_ACCOUNT: "uk",
    BRAND_BASE_URL: given.baseUrl,
    BRAND_IS_LISTED: given.isListed,
    BRAND_LIST_POINTER: given.listPointer,
    BRAND_LIFT: JSON.stringify(liftTexts(given)),
  };
  // An empty variable counts as absent, so this pointer is an option.
  return givenSettings(
    new GivenOptions({ detailPointer: given.detailPointer }, variables, "/").read(OF_A_RUN),
    "/",
  );
}

function byKeysOfAccount({ lifted, ...account }: Given): RunSettings {
  return inSettingsFile({ lifted, accounts: { uk: account } });
}

function byKeysForAll(given: Given): RunSettings {
  return inSettingsFile({ ...given, accounts: { uk: {} } });
}

function inSettingsFile(settings: object): RunSettings {
  const directory = mkdtempSync(join(tmpdir(), "brand-events-settings-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, "settings.json"), JSON.stringify(settings));
  return givenSettings(
    new GivenOptions({ config: "settings.json" }, {}, directory).withFile().read(OF_A_RUN),
    "/",
  );
}

function byFunctionsFile({ lifted, ...account }: Given): RunSettings {
  return inFunction({ accounts: { uk: account }, lifted: [...lifted] });
}

function byStack({ lifted, ...account }: Given): RunSettings {
  const accounts = { uk: { schedule: "rate(1 day)", ...account } };
  return inFunction(parseSettings({ accounts, lifted }));
}

function inFunction(settings: FunctionFile): RunSettings {
  const variables = environmentOf({
    bucket: "bucket",
    bucketOwner: "123456789012",
    database: "database",
    workgroup: "workgroup",
    metricNamespace: "metrics",
    secretName: "secret-of-{account}",
    program: "npm run sync --",
    stateMachineArn: "arn:aws:states:eu-west-1:123456789012:stateMachine:Stack",
  });
  const environment = readEnvironment(variables, functionFileText(settings));
  const account = environment.accounts["uk"];
  if (account === undefined) throw new Error("the account is missing");
  return accountRunSettings(account, environment);
}

describe.each([
  ["options", byOptions],
  ["environment variables", byVariables],
  ["an account's keys in the settings file", byKeysOfAccount],
  ["the keys for all in the settings file", byKeysForAll],
  ["the function's settings file", byFunctionsFile],
  ["cdk.json", byStack],
])("settings by %s", (_, settingsOf) => {
  it.each(ADDRESSES)("have for %j the fingerprint of %s", (baseUrl, canonical) => {
    const settings = settingsOf({ ...SHAPE, baseUrl });

    expect(settings.baseUrl).toBe(canonical);
    expect(fingerprint(settings)).toBe(fingerprint({ ...settings, ...SHAPE, baseUrl: canonical }));
  });

  it("have the fingerprint that runs of version 0.1 on the command line have", () => {
    const { fingerprint: expected, ...given } = {
      baseUrl: "https://service.example",
      isListed: "true",
      listPointer: "/data",
      detailPointer: "/data/event",
      lifted: [
        { name: "sector", pointer: "/sector/name" },
        { name: "revision", pointer: "/revision" },
      ],
      fingerprint: "cd9833623e53c76b2de6db9923ea76631eb6557ae715f0808bebc747f9db8837",
    } as const;

    expect(fingerprint(settingsOf(given))).toBe(expected);
  });

  it("have the same fingerprint whatever the limits and their window are", () => {
    const settings = settingsOf({ ...SHAPE, baseUrl: "https://service.example" });

    const others = { requestsPerMinute: 7, bytesPerMinute: "unlimited", windowMs: 600_000 } as const;
    expect(fingerprint({ ...settings, ...others })).toBe(fingerprint(settings));
  });

  it("have another fingerprint with the lifted columns in another order", () => {
    const given = { ...SHAPE, baseUrl: "https://service.example" };

    const other = settingsOf({ ...given, lifted: [SECTOR, BRAND] });

    expect(other.lifted).toEqual([SECTOR, BRAND]);
    expect(fingerprint(other)).not.toBe(fingerprint(settingsOf(given)));
  });
});
