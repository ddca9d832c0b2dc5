// Whatever command the program prints can be pasted into a shell as it is, in any folder: each where a person comes to see it.

import { globSync, readFileSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { type Ended, printedCommands } from "../command-line.ts";
import { type PrintedWorld, printedWorld } from "./printed-world.ts";

interface Scenario {
  /** The file that makes the command, and the command's first word. */
  readonly place: string;
  /** The command is made where that of another scenario is. */
  readonly isSamePlace?: true;
  readonly asks?: "tokens";
  /** Returns what was said, once the command in it can work. */
  readonly said: (world: PrintedWorld) => Promise<string>;
}

const everything = ({ stdout, stderr }: Ended): string => stdout + stderr;

const SCENARIOS: readonly Scenario[] = [
  {
    place: "bin/cli/output/next-command.ts accept",
    said: async (world) => everything(await held(world)),
  },
  {
    place: "bin/cli/output/next-command.ts diff",
    isSamePlace: true,
    said: async (world) => {
      await held(world);
      return everything(await world.command(["status", ...world.place]));
    },
  },
  {
    place: "bin/cli/commands/status.ts status",
    said: async (world) => {
      await world.run();
      await world.run("--account", "us");
      return everything(await world.command(["status", ...world.place.slice(0, 2)]));
    },
  },
  {
    place: "bin/cli/output/next-command.ts accept, on the page of report",
    isSamePlace: true,
    said: async (world) => {
      await held(world);
      await world.command(["report", ...world.place]);
      return readablePage(await readFile(join(world.cwd, "report.html"), "utf8"));
    },
  },
  {
    place: "bin/cli/commands/decisions.ts remove",
    said: async (world) => {
      await world.run();
      return everything(await world.command(["remove", "uk", ...world.place.slice(0, 2)]));
    },
  },
  {
    place: "bin/cli/commands/decisions.ts rollback",
    said: async (world) => {
      await held(world);
      return everything(await world.command(["accept", "held", ...world.place]));
    },
  },
  {
    place: "bin/cli/commands/decisions.ts retire",
    said: async (world) => {
      const { stdout } = await world.run("--json");
      await world.run();
      const { snapshot_id } = JSON.parse(stdout);
      return everything(await world.command(["retire", snapshot_id, ...world.place]));
    },
  },
  {
    place: "bin/cli/output/next-command.ts retire",
    isSamePlace: true,
    said: async (world) => {
      await withoutPart(world, "older");
      return everything(await world.command(["check", ...world.place, ...world.of]));
    },
  },
  {
    place: "bin/cli/query/missing-units.ts retire",
    said: async (world) => {
      await withoutPart(world, "older");
      return everything(
        await world.command(["query", "SELECT count(*) FROM event_snapshots", ...world.place.slice(0, 2)]),
      );
    },
  },
  {
    place: "bin/cli/output/notify.ts status",
    said: (world) => world.toldBy(),
  },
  {
    place: "bin/cli/output/next-command.ts accept, in a notification",
    isSamePlace: true,
    said: async (world) => {
      await world.run();
      world.halve();
      return world.toldBy();
    },
  },
  {
    place: "bin/cli/output/next-command.ts run, after a start that was no run",
    isSamePlace: true,
    said: async (world) => {
      await rename(world.credentials, `${world.credentials}.away`);
      const text = await world.toldBy();
      await rename(`${world.credentials}.away`, world.credentials);
      return text;
    },
  },
  {
    place: "bin/cli/output/next-command.ts run",
    isSamePlace: true,
    said: async (world) => {
      await using _ = await fileInTheWay(world);
      return await world.toldBy();
    },
  },
  {
    place: "bin/cli/output/next-command.ts authorize",
    isSamePlace: true,
    asks: "tokens",
    said: (world) => world.toldBy(),
  },
  {
    place: "bin/cli/output/next-command.ts run, over damage",
    said: async (world) => everything(await overDamage(world, ["run", ...world.of])),
  },
  {
    place: "bin/cli/output/next-command.ts run, over damage after check",
    isSamePlace: true,
    said: async (world) => everything(await overDamage(world, ["check", ...world.of])),
  },
  ...["status", "report"].map((name) => ({
    place: `bin/cli/output/next-command.ts run, over damage in ${name}`,
    isSamePlace: true as const,
    said: async (world: PrintedWorld) => {
      await overDamage(world, ["run", ...world.of]);
      const { stdout } = await world.command([name, ...world.place], serviceOf(world));
      if (name === "status")
        return stdout.slice(stdout.indexOf("Or restart"), stdout.lastIndexOf("Then start"));
      return readablePage(await readFile(join(world.cwd, "report.html"), "utf8"));
    },
  })),
  {
    place: "bin/cli/output/next-command.ts run, over damage in a query",
    isSamePlace: true,
    said: async (world) => {
      await withoutPart(world, "head");
      return everything(
        await world.command(
          ["query", "SELECT count(*) FROM events", ...world.place.slice(0, 2)],
          serviceOf(world),
        ),
      );
    },
  },
  {
    place: "bin/cli/output/next-command.ts run, below status",
    isSamePlace: true,
    said: async (world) => {
      const inTheWay = await fileInTheWay(world);
      await world.run();
      await inTheWay[Symbol.asyncDispose]();
      return everything(await world.command(["status", ...world.place], serviceOf(world)));
    },
  },
  {
    place: "bin/cli/output/next-command.ts authorize, of a run",
    isSamePlace: true,
    asks: "tokens",
    said: async (world) => (await world.run()).stderr,
  },
  {
    place: "bin/cli/commands/authorize.ts authorize",
    asks: "tokens",
    said: async (world) => {
      const args = ["authorize", "--auth-url", world.provider.url, "--tokens", "it's here.json"];
      const openBrowser = (address: string): Promise<boolean> =>
        world.allows(address, (to) => to.replace(/code=[^&]*/, "code=x"));
      return (await world.command(args, { openBrowser })).stderr;
    },
  },
  {
    place: "bin/cli/commands/init.ts run",
    said: async (world) => everything(await initialized(world, world.service.credentials.password)),
  },
  {
    place: "bin/cli/commands/init.ts check",
    isSamePlace: true,
    said: async (world) => {
      const ended = await initialized(world, "not-the-password");
      await rename(world.credentials, join(world.cwd, "credentials", "default.json"));
      return everything(ended);
    },
  },
  {
    place: "bin/cli/commands/init.ts authorize",
    isSamePlace: true,
    asks: "tokens",
    said: async (world) => everything(await initialized(world, world.provider.credentials.client_secret)),
  },
  {
    place: "bin/cli/commands/query.ts query",
    said: async (world) => {
      await world.run();
      const file = join(world.cwd, "what's saved.sql");
      await writeFile(file, "SELECT * FROM events WHERE account = '{{account}}'");
      return everything(await world.command(["query", "-f", file, ...world.place.slice(0, 2)]));
    },
  },
  {
    place: "bin/cli/commands/query.ts status",
    said: async (world) => {
      await world.run("--require", "/nothing");
      return everything(await world.command(["query", "FROM events", ...world.place.slice(0, 2)]));
    },
  },
];

/** The texts of a page, each on its line. */
function readablePage(page: string): string {
  return page
    .replaceAll(/<[^>]*>/g, "\n")
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** For a command without options for the service. */
const serviceOf = ({ service }: PrintedWorld) => ({
  env: { BRAND_BASE_URL: service.url, BRAND_REQUESTS_PER_MINUTE: "unlimited" },
});

/** No run can write its snapshot until it is gone. */
async function fileInTheWay({ warehouse }: PrintedWorld): Promise<AsyncDisposable> {
  const file = join(warehouse, "snapshots");
  await mkdir(warehouse);
  await writeFile(join(warehouse, "columns.json"), '{"version":1,"columns":[]}\n');
  await writeFile(file, "");
  return { [Symbol.asyncDispose]: () => rm(file) };
}

/** The head has lost its part, or the snapshot before it. */
async function withoutPart(world: PrintedWorld, of: "head" | "older"): Promise<void> {
  const { stdout } = await world.run("--json");
  if (of === "older") await world.run();
  await rm(join(world.warehouse, "snapshots", "uk", JSON.parse(stdout).snapshot_id, "part-00000.ndjson.gz"));
}

async function overDamage(world: PrintedWorld, args: readonly string[]): Promise<Ended> {
  await withoutPart(world, "head");
  return world.command([...args, ...world.place]);
}

async function held(world: PrintedWorld): Promise<Ended> {
  await world.run();
  world.halve();
  return world.run();
}

async function initialized(world: PrintedWorld, secret: string): Promise<Ended> {
  const { email } = world.service.credentials;
  const who = world.isOAuth
    ? [
        "--method",
        "oauth",
        "--client-id",
        world.provider.credentials.client_id,
        "--auth-url",
        world.provider.url,
      ]
    : ["--email", email];
  const options = ["--config", "it's ours.json", "--base-url", world.service.url, ...who];
  const env = world.isOAuth ? { BRAND_CLIENT_SECRET: secret } : { BRAND_PASSWORD: secret };
  return world.command(["init", ...options], { env });
}

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** How many commands of a file other tests run, or it only names the program. */
const ELSEWHERE: Readonly<Record<string, number>> = {
  // The next steps, which `examples.long.test.ts` runs, and the commands that it runs itself.
  "bin/demo.ts": 6,
  // Its own name, and the examples, which `examples.long.test.ts` runs.
  "bin/cli/main.ts": 2,
  // The commands of a deployment run on the emulator, and in an app: `authorized.aws.test.ts`, `cdk-app.long.test.ts`.
  "lib/assets.ts": 1,
  "lib/event-sync.ts": 1,
  "lib/outputs.ts": 1,
  // `init`, which asks, and `check`.
  "bin/cli/wiring/service-ports.ts": 1,
  // What all others are made with.
  "bin/cli/options/read-options.ts": 3,
};

describe("a printed command", () => {
  test.each(SCENARIOS)("of $place works as it is", async ({ place, asks, said }) => {
    await using world = await printedWorld(asks);

    const commands = printedCommands(await said(world));

    expect(commands.map(([word]) => word)).toContain(place.split(/[ ,]+/)[1]);
    for (const command of commands) {
      const stdin = Readable.from(["SELECT count(*) FROM events WHERE account = 'uk'"]);
      const ended = await world.command(command, { stdin, cwd: await temporaryDirectory() });
      expect(ended.exitCode, `${command.join(" ")}\n${ended.stderr}`).toBe(0);
    }
  });

  test("has a scenario, wherever it is made", () => {
    const made = new Map<string, number>();
    for (const file of globSync("{bin,lambdas,lib}/**/*.ts", { cwd: ROOT })) {
      const text = readFileSync(join(ROOT, file), "utf8");
      const code = text.replaceAll(/^import [^;]+;$|^\s*(?:\/\/|\*|\/\*).*$/gm, "");
      const count = code.match(/commandLineText[(<]|\bPROGRAM(?:_NAME)?\b(?!:)|npm run sync/g)?.length ?? 0;
      if (count > 0) made.set(file.replaceAll("\\", "/"), count);
    }
    const tested = new Map(Object.entries(ELSEWHERE));
    for (const { place, isSamePlace } of SCENARIOS) {
      if (isSamePlace) continue;
      const file = place.split(" ")[0] ?? "";
      tested.set(file, (tested.get(file) ?? 0) + 1);
    }

    expect([...made].toSorted()).toEqual([...tested].toSorted());
  });
});
