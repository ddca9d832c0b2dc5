// `check`: tries credentials, service, warehouse and catalog, and says what to do about each that fails.

import { check } from "../../lambdas/run/check.ts";
import type { CommandSpec } from "./command.ts";
import { composeHost } from "./compose.ts";
import { Display } from "./display.ts";
import { EXIT } from "./exit-code.ts";
import { openCredentials } from "./open-credentials.ts";
import { openWarehouse } from "./open-warehouse.ts";
import { runSettings, SERVICE_OPTIONS } from "./run-settings.ts";
import { systemClock } from "./system-clock.ts";

const OPTIONS = [...SERVICE_OPTIONS, "deep"] as const;

export const checkCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "check",
  summary: "try credentials, service and warehouse, and say what to do about what fails",
  options: OPTIONS,
  example: "npm run sync -- check --base-url https://service.example",
  execute: async (values, output) => {
    const settings = runSettings(values);
    const { requestsPerMinute } = settings;
    const display = new Display({ terminal: output.stderr, clock: systemClock, requestsPerMinute });
    const host = composeHost({
      warehouse: await openWarehouse(values),
      credentials: await openCredentials(values.credentials, display),
      settings,
      logger: display,
      onProgress: () => undefined,
      onWait: (wait) => display.waiting(wait),
      signal: output.signal,
    });
    const checks = await check(host, settings, { deep: values.deep });
    const ok = checks.every((one) => one.ok);
    if (values.json) output.stdout.json({ ok, checks });
    else {
      for (const { name, ok: isOk, code, remedy } of checks) {
        output.stdout.message(isOk ? `ok      ${name}` : `FAILED  ${name}  ${code}: ${remedy}`);
      }
    }
    if (ok) return EXIT.done;
    return checks.some(({ code }) => code === "CREDENTIALS_INVALID") ? EXIT.wrongInput : EXIT.failed;
  },
  failureJson: (code, remedy) => ({ ok: false, checks: [{ name: "settings", ok: false, code, remedy }] }),
};
