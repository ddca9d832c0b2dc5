// `npm run measure`: how large the program is, beside what it may be at most.

import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { BenchEnvironment } from "../bench/bench-environment.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDERS = ["bin", "lib", "lambdas"];
const EVENTS = 2_000;
const MIB = 1024 * 1024;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type) (\w+)/gm;
const IMPORT = /^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm;

const sources = await readSources();
const rows: readonly (readonly [string, number, number])[] = [
  ["lines of bin, lib and lambdas", sum(Object.values(sources).map(linesOf)), 29_000],
  ["files there", Object.keys(sources).length, 300],
  ["exports that one other file uses", exportsUsedOnce(), 280],
  ["files that a run calls at least once an event", await filesPerEvent(), 40],
  ["MiB of the package, unpacked, without DuckDB", Math.round((10 * (await packageBytes())) / MIB) / 10, 6],
];
for (const [what, found, most] of rows)
  process.stdout.write(
    `${what.padEnd(48)} ${String(found).padStart(7)}  at most ${most}${found > most ? "  missed" : ""}\n`,
  );

/** Texts by path, relative to the root. */
async function readSources(): Promise<Readonly<Record<string, string>>> {
  const paths = await Promise.all(
    FOLDERS.map((folder) => readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })),
  );
  const files = paths.flat().filter((entry) => entry.isFile() && entry.name.endsWith(".ts"));
  const read = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [relative(ROOT, path), await readFile(path, "utf8")] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

function linesOf(text: string): number {
  return text.split("\n").length - 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function exportsUsedOnce(): number {
  const users = new Map<string, number>();
  for (const [path, text] of Object.entries(sources)) {
    for (const [, names = "", from = ""] of text.matchAll(IMPORT)) {
      const target = relative(ROOT, resolve(ROOT, dirname(path), from));
      for (const name of names.split(",")) {
        const [imported] = name
          .trim()
          .replace(/^type /, "")
          .split(" as ");
        if (imported) users.set(`${target} ${imported}`, (users.get(`${target} ${imported}`) ?? 0) + 1);
      }
    }
  }
  const declared = Object.entries(sources).flatMap(([path, text]) =>
    [...text.matchAll(DECLARATION)].map(([, name]) => `${path} ${name}`),
  );
  return declared.filter((one) => users.get(one) === 1).length;
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** Of a first run, as V8 counts its calls. */
async function filesPerEvent(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "brand-events-measure-"));
  const counts = join(folder, "counts");
  process.env["NODE_V8_COVERAGE"] = counts; // for the processes that are started from here
  try {
    await using environment = await BenchEnvironment.open({
      load: { events: EVENTS, eventLength: 2_000 },
      program: join(ROOT, "bin/sync.ts"),
      folder: join(folder, "run"),
    });
    await environment.runJob();
    const called = new Set<string>();
    for (const file of await readdir(counts)) {
      const { result }: Coverage = JSON.parse(await readFile(join(counts, file), "utf8"));
      for (const { url, functions } of result) {
        const path = url.startsWith("file:") ? relative(ROOT, new URL(url).pathname) : "";
        const isPerEvent = functions.some(({ ranges: [whole] }) => (whole?.count ?? 0) >= EVENTS);
        if (path in sources && isPerEvent) called.add(path);
      }
    }
    return called.size;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is in the package that is published; DuckDB is a package of its own. */
async function packageBytes(): Promise<number> {
  const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json"], {
    cwd: ROOT,
    maxBuffer: 64 * MIB,
  });
  const [packed]: readonly { readonly unpackedSize: number }[] = JSON.parse(
    stdout.slice(stdout.indexOf("[")),
  );
  return packed?.unpackedSize ?? Number.NaN;
}
