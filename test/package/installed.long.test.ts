// The package in an empty folder: what is in it, how large it is, and that the quick start works with it.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, delimiter, dirname, join, matchesGlob } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { against, type Ended, laptop, lastJson, shellWords, writeCredentials } from "../cli/command-line.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { type InstalledPackage, installPackage } from "./consumer-app.ts";

const MAX_INSTALLED_BYTES = 150_000_000;
/** Without DuckDB. */
const MAX_SMALL_BYTES = 8_000_000;

/** The oldest that the package allows, from npm, to the byte. */
const LOWEST_NODE = "22.21.0";

/** Of the packages of the platforms that have this version. */
const INTEGRITY: Readonly<Record<string, string>> = {
  "linux-arm64":
    "sha512-RIKdf+QjeJhwpZtsDHCcPXWOMxCvTnbTFCMqtstCZUScVVQ2WfHLjviK19oaPeL0n/JEo3FXGsbDgdW52TqUsw==",
  "linux-x64":
    "sha512-zDkVW/xqAEQu19ra2kjSOyDjxl0oOMEm0hkkMfy8w18ih5g3eAtVH5U/3uMHEPtJdUUQNwzhKjUOFg2QWL1Z+w==",
};

const PLATFORM = `${process.platform}-${process.arch}`;

/** Whether npm has it for this platform. */
const HAS_LOWEST_NODE: boolean = PLATFORM in INTEGRITY;

interface LowestNode extends AsyncDisposable {
  /** A folder for PATH. */
  readonly bin: string;
}

const OWN_BIN = dirname(process.execPath);

let installed: InstalledPackage;
let lowest: LowestNode | undefined;

beforeAll(async () => {
  installed = await installPackage();
  if (HAS_LOWEST_NODE) lowest = await installLowestNode();
}, 300_000);

afterAll(async () => {
  await installed?.[Symbol.asyncDispose]();
  await lowest?.[Symbol.asyncDispose]();
});

test("the package holds built code, documents and the schema of the settings file, nothing of the development", () => {
  const others = installed.files.filter(
    (path) =>
      !/^(?:dist\/chunks\/[\w-]+\.js|dist\/cdk\/function\/chunks\/[\w-]+\.mjs|dist\/cdk\/data\/queries\/[\w-]+\.sql|docs\/[\w-]+\.md)$/.test(
        path,
      ),
  );

  expect(others).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "brand-events.schema.json",
    "dist/brand-events-sync.js",
    "dist/cdk/event-sync.d.ts",
    "dist/cdk/event-sync.js",
    "dist/cdk/function/index.mjs",
    "dist/cdk/function/sbom.cdx.json",
    "dist/cdk/index.d.ts",
    "dist/cdk/package.json",
    "dist/cdk/settings.d.ts",
    "dist/sbom.cdx.json",
    "dist/third-party-licenses.txt",
    "package.json",
  ]);
});

test(`with its dependencies it has at most ${MAX_INSTALLED_BYTES} bytes, and no Node.js`, () => {
  const paths = readdirSync(installed.modules, { recursive: true, encoding: "utf8" });

  expect(sizeBelow(installed.modules)).toBeLessThan(MAX_INSTALLED_BYTES);
  expect(
    paths.filter((path) =>
      /(?:^|\/)(?:node|node-(?:linux|darwin|win)-\w+|brand-events-sync-runtime)$/.test(path),
    ),
  ).toEqual([]);
});

function sizeBelow(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const files = paths.map((path) => statSync(join(folder, path))).filter((found) => found.isFile());
  return files.reduce((sum, { size }) => sum + size, 0);
}

test(`as the example for containers installs it, it has at most ${MAX_SMALL_BYTES} bytes, and all but query works`, async () => {
  const simulator = await Simulator.start({ events: makeEvents(12) });
  onTestFinished(() => simulator.stop());
  const root = await temporaryDirectory();
  const home = join(root, "home/node");
  await Promise.all([
    mkdir(join(root, "config")),
    mkdir(join(root, "tmp")),
    mkdir(home, { recursive: true }),
  ]);
  const account = { credentials: "credentials.json" };
  const config = join(root, "config/brand-events.json");
  await writeFile(config, JSON.stringify({ baseUrl: simulator.url, accounts: { uk: account } }));
  await writeCredentials(join(root, "config"), simulator);

  const command = await followDockerfile(root);
  const before = readdirSync(root, { recursive: true, encoding: "utf8" });
  const ended = [
    await command("run", "--all", "--fresh"),
    await command("status"),
    await command("query", "SELECT 1"),
  ];

  const others = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (path) => !before.includes(path) && !path.includes("home/node/warehouse/"),
  );
  expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0, 1]);
  expect(ended[0]?.stdout).toContain("PUBLISHED");
  expect(ended[2]?.stderr).toMatch(
    /^QUERY_FAILED: query needs DuckDB.* npm install --global @duckdb\/node-api@[\d.r-]+ .*\n$/,
  );
  expect(others).toEqual([]);
  expect(sizeBelow(join(root, "app"))).toBeLessThan(MAX_SMALL_BYTES);
}, 180_000);

/** Does what `examples/Dockerfile` says, below `root` and with no other environment. Returns its entry point. */
async function followDockerfile(root: string): Promise<(...args: readonly string[]) => Promise<Ended>> {
  const text = await readFile(join(import.meta.dirname, "../../examples/Dockerfile"), "utf8");
  const below = text.replaceAll(/\/(?:app|home\/node|config)\b/g, (path) => join(root, path));
  const environment: Record<string, string> = {
    PATH: [OWN_BIN, process.env["PATH"]].join(delimiter),
    HOME: join(root, "home/node"),
    TMPDIR: join(root, "tmp"),
  };
  /** Where packages come from on this machine. */
  const npm = {
    npm_config_userconfig: join(homedir(), ".npmrc"),
    npm_config_cache: join(homedir(), ".npm"),
    npm_config_prefer_offline: "true",
  };
  const started: Record<string, readonly string[]> = {};
  for (const [, instruction = "", rest = ""] of below.matchAll(/^([A-Z]+) (.*)$/gm)) {
    if (instruction === "COPY") {
      const [from = "", to = ""] = rest.split(" ");
      expect(matchesGlob(basename(installed.tarball), from)).toBe(true);
      await cp(installed.tarball, join(to, basename(installed.tarball)), { recursive: true });
    } else if (instruction === "RUN") {
      const { exitCode, stderr } = await endOf(["sh", "-c", rest], root, { ...environment, ...npm });
      expect(exitCode, stderr).toBe(0);
    } else if (instruction === "ENV") {
      Object.assign(environment, Object.fromEntries(rest.split(" ").map((pair) => pair.split("="))));
    } else if (instruction === "ENTRYPOINT" || instruction === "CMD") started[instruction] = JSON.parse(rest);
    else expect(["FROM", "USER", "VOLUME"]).toContain(instruction);
  }
  const { ENTRYPOINT = [], CMD = [] } = started;
  return (...args) => endOf([...ENTRYPOINT, ...(args.length > 0 ? args : CMD)], root, environment);
}

const OWN_NODE = { which: "the Node.js of the project", bin: (): string => OWN_BIN };
const LOWEST = { which: `Node.js ${LOWEST_NODE}`, bin: (): string => lowest?.bin ?? "" };

describe.each(HAS_LOWEST_NODE ? [OWN_NODE, LOWEST] : [OWN_NODE])("on $which", ({ bin }) => {
  test("it says its version", async () => {
    const { command } = await newWorld(bin());

    expect(await command(["--version"])).toEqual({
      exitCode: 0,
      stdout: `${packageJson.version}\n`,
      stderr: "",
    });
  });

  test("the quick start works: check, run, query, status", async () => {
    const { command, simulator } = await newWorld(bin());

    const check = await command(["check", ...against(simulator)]);
    const run = await command(["run", "--fresh", "--json", ...against(simulator)]);
    const query = await command(["query", "--json", "SELECT count(*) AS n FROM events"]);
    const status = await command(["status"]);

    expect([check, run, query, status].map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
    expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED", events: 12 });
    expect(lastJson(query)).toMatchObject({ rows: [["12"]] });
    expect(status.stdout).toContain("readers see  12 events");
  });

  test("the commands that it prints are its own, and work as they are", async () => {
    const { command, simulator } = await newWorld(bin());
    await command(["run", ...against(simulator)]);
    simulator.setEvents(makeEvents(6));

    const held = await command(["run", ...against(simulator)]);
    const [, accept = ""] = /brand-events-sync (accept .*)/.exec(held.stdout) ?? [];
    const accepted = await command(shellWords(accept));
    const help = await command(["run", "--help"]);

    expect(accepted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("PUBLISHED") });
    expect(help.stdout).toContain("Usage: brand-events-sync run [options]");
    expect(help.stdout).toContain("Example:\n  brand-events-sync run --base-url");
    expect([held, accepted, help].map(({ stdout }) => stdout).join("")).not.toContain("npm run");
  });
});

test.each([
  [
    "20.11.1",
    `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.11.1" } })`,
  ],
  // A version that has no way to load a module without a promise.
  [
    "18.20.0",
    'delete process.getBuiltinModule; Object.defineProperty(process.versions, "node", { value: "18.20.0" });',
  ],
])("Node.js %s is refused in one line", async (version, old) => {
  const { command } = await newWorld();
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(old)}`;

  const { exitCode, stdout, stderr } = await command(["--version"], { NODE_OPTIONS });

  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr.replace(process.execPath, "node")).toBe(
    `brand-events-sync needs Node.js 22.21 or newer, and node is ${version}: install a newer one from https://nodejs.org and start again.\n`,
  );
});

interface World {
  readonly simulator: Simulator;
  /** Runs the installed command in a folder with credentials, as a user with a home of its own. */
  readonly command: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>;
}

/** `bin` is the folder of the Node.js that comes first in PATH. */
async function newWorld(bin = OWN_BIN): Promise<World> {
  const { cwd, simulator } = await laptop({ events: makeEvents(12) });
  const home = await temporaryDirectory();
  const PATH = [bin, process.env["PATH"]].join(delimiter);
  const command: World["command"] = (args, env = {}) => {
    const all = { PATH, HOME: home, ...env };
    return endOf([installed.command, ...args], cwd, all);
  };
  return { simulator, command };
}

async function endOf(
  [program = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    child.stdout.setEncoding("utf8").toArray(),
    child.stderr.setEncoding("utf8").toArray(),
    once(child, "close"),
  ]);
  return { exitCode, stdout: stdout.join(""), stderr: stderr.join("") };
}

async function installLowestNode(): Promise<LowestNode> {
  const folder = await mkdtemp(join(tmpdir(), "brand-events-node-"));
  const name = `node-${PLATFORM}`;
  const root = { name: "lowest-node", version: "1.0.0", dependencies: { [name]: LOWEST_NODE } };
  const lock = {
    ...root,
    lockfileVersion: 3,
    packages: {
      "": root,
      [`node_modules/${name}`]: { version: LOWEST_NODE, integrity: INTEGRITY[PLATFORM] },
    },
  };
  await writeFile(join(folder, "package.json"), JSON.stringify(root));
  await writeFile(join(folder, "package-lock.json"), JSON.stringify(lock));
  const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", ["ci", ...options], { cwd: folder });
  return {
    bin: join(folder, "node_modules", name, "bin"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
