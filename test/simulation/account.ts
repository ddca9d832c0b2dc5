// One account of a world: its service, its credentials, and the model of its part of the warehouse.

import type { Credentials } from "../../lambdas/job/credentials/credentials.ts";
import type { OAuthTokens } from "../../lambdas/job/credentials/tokens/token-store.ts";
import type { RunSettings } from "../../lambdas/job/run/run-settings.ts";
import { settingsWith } from "../job/run/run-defaults.ts";
import { Model } from "./model/model.ts";
import { TokenPlace } from "./oauth/token-place.ts";
import { NEXT_PAGE, type Plan } from "./plan/plan.ts";
import type { SimProcess } from "./process/sim-process.ts";
import { CLIENT, EMAIL, VirtualService } from "./service/virtual-service.ts";
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
