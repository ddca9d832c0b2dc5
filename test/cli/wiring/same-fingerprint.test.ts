// The same settings have the same fingerprint, wherever they are given: each place resumes the work of the others.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { RUN_OPTIONS, SERVICE_OPTIONS } from "../../../bin/cli/options/options.ts";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { givenSettings } from "../../../bin/cli/wiring/service-ports.ts";
import { shapeOfPlan } from "../../../lambdas/job/run/collect/unfinished-run.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import {
  accountRunSettings,
  environmentOf,
  type FunctionFile,
  functionFileText,
  readEnvironment,
} from "../../../lambdas/sync/environment.ts";
import { parseSettings } from "../../../lib/settings.ts";

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

const OPTIONS = [...SERVICE_OPTIONS, ...RUN_OPTIONS];

const liftTexts = ({ lifted }: Given): readonly string[] =>
  lifted.map(({ name, pointer }) => `${name}=${pointer}`);

function byOptions(given: Given): RunSettings {
  const { lifted, ...others } = given;
  const options = { ...others, account: "uk", lift: liftTexts(given) };
  return givenSettings(new GivenOptions(options, {}, "/").read(OPTIONS), "/");
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
    new GivenOptions({ detailPointer: given.detailPointer }, variables, "/").read(OPTIONS),
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
    new GivenOptions({ config: "settings.json" }, {}, directory).withFile().read(OPTIONS),
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
    secretName: "secret-of-{account}",
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
