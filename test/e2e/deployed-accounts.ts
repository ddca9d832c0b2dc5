// The deployed function with accounts of a test file's own, each at a simulated service of its own.

import { systemRandom } from "../../lambdas/job/runtime/clock.ts";
import { TABLES, type TableName } from "../../lambdas/job/storage/layout.ts";
import { S3Store } from "../../lambdas/job/storage/s3/s3-store.ts";
import { GlueReader, type GlueRow } from "../aws/aws-warehouse.ts";
import { Simulator } from "../simulator/simulator.ts";
import type { BusEvent } from "./aws-recorder.ts";
import { type Deployment, deploy } from "./deployment.ts";
import { payload } from "./lambda-function.ts";

export const DAY_MS = 24 * 60 * 60_000;

export class DeployedAccounts<Account extends string> {
  readonly deployment: Deployment;
  readonly reader: GlueReader;
  readonly store: S3Store;
  readonly #simulators: ReadonlyMap<string, Simulator>;

  private constructor(deployment: Deployment, simulators: ReadonlyMap<string, Simulator>) {
    const { clients, bucket, database } = deployment;
    this.deployment = deployment;
    this.reader = new GlueReader(clients, database);
    this.store = new S3Store({ client: clients.s3, bucket, prefix: "", random: systemRandom });
    this.#simulators = simulators;
  }

  /**
   * Each account has settings of its own beside the usual ones, and working credentials but for those `notSetUp`.
   * @param ofAll settings of the deployment
   */
  static async deploy<Account extends string>(
    accounts: Readonly<Record<Account, object>>,
    ofAll: object = {},
    notSetUp: readonly Account[] = [],
  ): Promise<DeployedAccounts<Account>> {
    const simulators = new Map<string, Simulator>();
    for (const account of Object.keys(accounts)) simulators.set(account, await Simulator.start());
    const settings = Object.entries<object>(accounts).map(([account, own]) => [
      account,
      {
        schedule: "cron(0 6 * * ? *)",
        baseUrl: simulators.get(account)?.url,
        requestsPerMinute: "unlimited",
        bytesPerMinute: "unlimited",
        ...own,
      },
    ]);
    const deployment = await deploy({
      accounts: Object.fromEntries(settings),
      lifted: [
        { name: "name", pointer: "/name" },
        { name: "amount", pointer: "/spend/amount", type: "DECIMAL(18,2)" },
      ],
      ...ofAll,
    });
    const deployed = new DeployedAccounts<Account>(deployment, simulators);
    for (const account in accounts) if (!notSetUp.includes(account)) await deployed.fillSecret(account);
    return deployed;
  }

  fillSecret(account: Account): Promise<void> {
    return this.deployment.fillSecret(account, { method: "session", ...this.service(account).credentials });
  }

  service(account: Account): Simulator {
    const simulator = this.#simulators.get(account);
    if (simulator === undefined) throw new Error(`${account} has no simulator`);
    return simulator;
  }

  invoke(event: unknown): Promise<Readonly<Record<string, unknown>>> {
    return this.deployment.function.invoke(event).then(payload);
  }

  /** A start of the schedule. */
  run(account: Account, scheduledAtMs: number): Promise<Readonly<Record<string, unknown>>> {
    return this.invoke({ account, scheduledAt: new Date(scheduledAtMs).toISOString() });
  }

  async rows(table: TableName, account: Account, value: string = account): Promise<readonly GlueRow[]> {
    return (await this.reader.rows(table, account)).get(value) ?? [];
  }

  /** As a query finds them, with the columns that come from the path. */
  async tableRows(table: TableName, account: Account): Promise<readonly GlueRow[]> {
    const partitions = await this.reader.rows(table, account);
    const [, second] = TABLES[table].partitions;
    return [...partitions].flatMap(([value, rows]) =>
      rows.map((row) => ({ ...row, account, ...(second === undefined ? {} : { [second]: value }) })),
    );
  }

  /** The table `events`: uuid and detail text, in order. */
  async events(account: Account): Promise<ReadonlyMap<unknown, unknown>> {
    return new Map((await this.rows("events", account)).map(({ uuid, event }) => [uuid, event]));
  }

  /** What `events` should show. */
  truth(account: Account): ReadonlyMap<unknown, unknown> {
    const service = this.service(account);
    const listed = service.listed().toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1));
    return new Map(listed.map(({ uuid }) => [uuid, service.detailSource(uuid)]));
  }

  /** The publication in the parameters of the partition of `events`. */
  async shown(account: Account): Promise<string | undefined> {
    return (await this.reader.partitions("events", account))[0]?.Parameters?.["publication"];
  }

  busEvents(account: Account): readonly BusEvent[] {
    return this.deployment.recorder.events.filter(({ detail }) => detail["account"] === account);
  }

  /** As if it had happened then. */
  async backdate(key: string, field: string, toMs: number): Promise<void> {
    const stored = await this.store.read(key);
    if (stored === undefined) throw new Error(`${key} is not there`);
    const value = {
      ...JSON.parse(Buffer.from(stored.bytes).toString()),
      [field]: new Date(toMs).toISOString(),
    };
    await this.store.replace(key, Buffer.from(`${JSON.stringify(value)}\n`), stored.version);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.deployment[Symbol.asyncDispose]();
    for (const simulator of this.#simulators.values()) await simulator.stop();
  }
}
