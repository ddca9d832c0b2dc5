// One account of a world: its service, its credentials and tokens, and the model of its part of the warehouse.

import type { Credentials } from "../../lambdas/job/credentials/credentials.ts";
import type {
  OAuthTokens,
  RenewalClaim,
  StoredTokens,
  TokenStore,
} from "../../lambdas/job/credentials/tokens/token-store.ts";
import type { RunSettings } from "../../lambdas/job/run/run-settings.ts";
import { settingsWith } from "../job/run/run-defaults.ts";
import { Model } from "./model/model.ts";
import { NEXT_PAGE, type Plan } from "./plan/plan.ts";
import type { CallFailures, SimProcess } from "./process/sim-process.ts";
import { CLIENT, EMAIL, VirtualService } from "./service/virtual-service.ts";
import type { Job } from "./versions/job.ts";
import type { World } from "./world.ts";

/** Version 0.1 knows the account from the settings, too. */
type AccountSettings = RunSettings & { readonly account: string };

export class Account {
  readonly name: string;
  settings: AccountSettings;
  readonly service: VirtualService;
  readonly tokens: TokenPlace;
  readonly model: Model;
  readonly #world: World;
  /** What the operator has stored: it may not be what the service accepts. */
  #stored = { password: "first", version: 1 };

  constructor(world: World, name: string) {
    const { setting } = world.plan;
    const now = (): number => world.timeline.nowMs;
    this.#world = world;
    this.name = name;
    this.settings = settingsOf(world.plan, name);
    this.model = new Model(world, this);
    this.service = new VirtualService(setting, now, (call) => this.model.onCall(call));
    this.tokens = new TokenPlace(this.#authorized(), now, setting.warehouse === "directory");
    this.service.content.add(setting.events, now());
  }

  get password(): string {
    return this.#stored.password;
  }

  /** The operator stores another password. */
  store(password: string): void {
    this.#stored = { password, version: this.#stored.version + 1 };
    this.#world.story.tell("operator", `stores version ${this.#stored.version} of the credentials`);
  }

  /** The operator names columns. */
  lift(lifted: RunSettings["lifted"]): void {
    this.settings = { ...this.settings, lifted };
    this.#world.story.tell(
      "operator",
      `lifts ${lifted.map(({ name, pointer }) => `${name}=${pointer}`).join()}`,
    );
  }

  /** The operator sets how pages of the list are asked for. */
  namePages(): void {
    this.settings = { ...this.settings, nextPage: NEXT_PAGE[this.#world.plan.setting.paging] };
  }

  /** A person authorizes again in the browser. */
  authorize(): void {
    this.tokens.store(this.#authorized());
    this.#world.story.tell("operator", "authorizes again");
  }

  #authorized(): OAuthTokens {
    const { accessToken, refreshToken = "" } = this.service.authorize();
    const { lifeMs } = this.#world.plan.setting.tokens;
    const obtainedAtMs = this.#world.timeline.nowMs;
    return {
      format: 1,
      client_id: CLIENT.id,
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: "Bearer",
      obtained_at: new Date(obtainedAtMs).toISOString(),
      expires_at: new Date(obtainedAtMs + lifeMs).toISOString(),
    };
  }

  /** The snapshots that have files now. */
  snapshotIds(): readonly string[] {
    const prefix = `snapshots/${this.name}/`;
    const keys = this.#world.objects.keys(prefix);
    return [...new Set(keys.map((key) => key.slice(prefix.length).split("/")[0] ?? ""))];
  }

  credentialsOf(process: SimProcess): Credentials {
    const { method, warehouse } = this.#world.plan.setting;
    const versions = new WeakMap<object, string>();
    return {
      read: () =>
        process.call(
          "credentials",
          "reads the credentials",
          () => {
            const { password, version } = this.#stored;
            const read =
              method === "oauth"
                ? { method, client_id: CLIENT.id, client_secret: CLIENT.secret }
                : { method, email: EMAIL, password };
            versions.set(read, `version ${version}`);
            return read;
          },
          {},
        ),
      // A file on a laptop has no versions.
      ...(warehouse === "bucket" ? { versionOf: (read) => versions.get(read) } : {}),
    };
  }
}

function settingsOf({ setting }: Plan, account: string): AccountSettings {
  const { requestsPerMinute, bytesPerMinute, concurrency, rangeEvents, retainDays } = setting;
  const { maxDropPercent, maxGrowthPercent, maxMissingPercent, require } = setting;
  const guard = { maxDropPercent, maxGrowthPercent, maxMissingPercent, require };
  const settings = settingsWith({
    authUrl: "https://auth.example/",
    nextPage: setting.isPagingKnown ? NEXT_PAGE[setting.paging] : undefined,
    ...{ requestsPerMinute, bytesPerMinute, concurrency, rangeEvents, retainDays, ...guard },
  });
  return { ...settings, account };
}

/** A claim on a secret ends after so long. One on a file ends with its process as well. */
const CLAIM_MS = 60_000;

interface Claim {
  readonly by: SimProcess;
  readonly atMs: number;
}

/** Where tokens are stored, and what each process sees of it: the twin of a file and of a secret. */
class TokenPlace {
  readonly #now: () => number;
  readonly #isFile: boolean;
  readonly #accessTokens = new Set<string>();
  #tokens: OAuthTokens;
  #version = 1;
  #claim: Claim | undefined;

  constructor(tokens: OAuthTokens, now: () => number, isFile: boolean) {
    this.#tokens = tokens;
    this.#now = now;
    this.#isFile = isFile;
    this.#accessTokens.add(tokens.access_token);
  }

  get refreshToken(): string {
    return this.#tokens.refresh_token;
  }

  /** Whether it was stored at any time. */
  hadAccessToken(accessToken: string): boolean {
    return this.#accessTokens.has(accessToken);
  }

  store(tokens: OAuthTokens): void {
    this.#tokens = tokens;
    this.#version += 1;
    this.#accessTokens.add(tokens.access_token);
  }

  seenBy(process: SimProcess): TokenStore {
    const call = <T>(what: string, effect: () => T, isRead = false): Promise<T> =>
      process.call("credentials", what, effect, FAILURES, isRead);
    return {
      place: "the simulated place",
      isCreatedEmpty: false,
      read: () =>
        call("reads the tokens", (): StoredTokens => ({ version: this.#named, tokens: this.#tokens }), true),
      claim: (version) => call("claims the tokens", () => this.#claimFor(process, version)),
      replace: (version, tokens) =>
        call("replaces the tokens", () => {
          if (version !== this.#named) return undefined;
          this.store(tokens);
          return this.#named;
        }),
    };
  }

  get #named(): string {
    return `tokens${this.#version}`;
  }

  #claimFor(process: SimProcess, version: string): RenewalClaim | undefined {
    if (this.#claim && this.#isAlive(this.#claim)) return undefined;
    if (version !== this.#named) return undefined;
    const claim: Claim = { by: process, atMs: this.#now() };
    this.#claim = claim;
    const isHeld = (): boolean => this.#claim === claim && this.#isAlive(claim);
    return {
      get isHeld() {
        return isHeld();
      },
      release: async () => {
        if (this.#claim === claim) this.#claim = undefined;
      },
    };
  }

  #isAlive({ by, atMs }: Claim): boolean {
    if (this.#isFile) return !by.isDead;
    return this.#now() - atMs < CLAIM_MS;
  }
}

const failed = ({ SyncError }: Job): Error =>
  new SyncError("STORE_FAILED", "The simulated place of the tokens failed.");
const FAILURES: CallFailures = { refused: failed, lost: failed };
