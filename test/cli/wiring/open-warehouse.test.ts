// Where the tokens are without `--tokens`, what a link leads to, and which files of runs expire.

import { chmod, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, test } from "vitest";
import { expireRuns } from "../../../bin/cli/commands/run.ts";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { openTokens } from "../../../bin/cli/wiring/open-warehouse.ts";
import { readProxies } from "../../../lambdas/job/network/proxies.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { sampleTokens } from "../../job/credentials/tokens/memory-token-store.ts";
import { LogLines } from "../../job/runtime/log-lines.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { MemoryStore } from "../../job/storage/memory-store.ts";

const proxies = readProxies({});

it.each([
  ["credentials/uk.json", undefined, "credentials/uk.tokens.json"],
  ["./credentials.json", undefined, "credentials.tokens.json"],
  ["secret", undefined, "secret.tokens.json"],
  ["credentials/uk.json", "elsewhere/tokens.json", "elsewhere/tokens.json"],
  ["secretsmanager:uk", "tokens.json", "tokens.json"],
])("with the credentials %s and --tokens %s they are in %s", async (credentials, tokens, file) => {
  const cwd = await temporaryDirectory();

  const places = new GivenOptions({ credentials, tokens }, {}, cwd).read(["credentials", "tokens"]);
  const store = await openTokens(places, { proxies });

  expect(store.place).toBe(`the file ${join(cwd, file)}`);
});

it("with credentials in a secret the option is asked for", async () => {
  const opening = openTokens({ credentials: "secretsmanager:uk", tokens: undefined }, { proxies });

  await expect(opening).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("--tokens secretsmanager:NAME"),
  });
});

it("a renewal replaces the file that a link leads to, not the link", async () => {
  const cwd = await realpath(await temporaryDirectory());
  await mkdir(join(cwd, "shared"));
  await writeFile(join(cwd, "shared/uk.tokens.json"), "{}", { mode: 0o600 });
  await symlink(join(cwd, "shared/uk.tokens.json"), join(cwd, "uk.tokens.json"));
  const where = { credentials: join(cwd, "uk.json"), tokens: undefined };

  const store = await openTokens(where, { proxies });
  const stored = await store.read();
  await store.replace(stored.version, sampleTokens("1"));

  const direct = await openTokens({ ...where, tokens: join(cwd, "shared/uk.tokens.json") }, { proxies });
  expect(await direct.read()).toMatchObject({ tokens: sampleTokens("1") });
  expect(store.place).toBe(direct.place);
});

it.each([
  [0o600, []],
  [0o640, ["other users of this machine may read"]],
  [0o644, ["other users of this machine may read"]],
])("a file with mode %o has these warnings: %j", async (mode, warnings) => {
  const cwd = await temporaryDirectory();
  const file = join(cwd, "uk.tokens.json");
  await writeFile(file, "{}");
  await chmod(file, mode);
  const log = new LogLines();

  await openTokens({ credentials: join(cwd, "uk.json"), tokens: undefined }, { proxies }, log);

  expect(log.lines).toEqual(warnings.map((text) => `warn ${text} ${file}: chmod 600 ${file} {}`));
});

it("a file that is not there has no warning", async () => {
  const log = new LogLines();

  await openTokens({ credentials: "/none/uk.json", tokens: undefined }, { proxies }, log);

  expect(log.lines).toEqual([]);
});

const NOW = Date.UTC(2026, 10, 21, 6);

test("what a run staged is deleted after 14 days, and nothing else is", async () => {
  const store = new MemoryStore();
  const kept = [
    "runs/de/2026-01-01T00-00-00.000Z/plan.ndjson.gz",
    "runs/uk/2026-11-07T06-00-00.000Z/plan.ndjson.gz",
    "runs/uk/2026-11-21T06-00-00.000Z/outcome.json",
    "runs/uk/check-token.json",
    "snapshots/uk/2026-01-01T00-00-00.000Z/part-00000.ndjson.gz",
    "runs/uk/2026-01-01T00-00-00.000Z/a copy (1).json",
    "runs/uk/2026-01-01T00-00-00.000Z/z/plan.ndjson.gz",
  ];
  const old = [
    "runs/uk/2026-11-07T05-59-59.000Z/outcome.json",
    "runs/uk/2026-11-01T00-00-00.000Z/plan.ndjson.gz",
  ];
  for (const key of [...kept, ...old]) store.put(key, "x");

  await expireRuns(accountStore(store, "uk"), NOW);

  expect(store.keys()).toEqual(kept.toSorted());
});
