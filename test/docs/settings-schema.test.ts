// brand-events.schema.json says what the schema of the settings file says, in the words of docs/settings.md.
// `npx vitest run test/docs/settings-schema.test.ts -u` writes it again.

import { expect, test } from "vitest";
import { z } from "zod";
import { fileSettingsSchema } from "../../lambdas/job/settings-file/settings-schema.ts";
import { tableBelow, unquoted } from "./markdown.ts";

interface Explained {
  readonly description: string;
  readonly default?: unknown;
}

test("the JSON Schema for editors is that of the settings file", async () => {
  const explained = explanations();

  const schema = z.toJSONSchema(fileSettingsSchema, {
    io: "input",
    target: "draft-7",
    override: ({ jsonSchema, path }) => {
      delete jsonSchema.readOnly;
      if (path.at(-2) === "properties") Object.assign(jsonSchema, explained.get(String(path.at(-1))));
    },
  });

  const titled = { title: "Settings of brand-events-sync", ...schema };
  await expect(`${JSON.stringify(titled, null, 2)}\n`).toMatchFileSnapshot("../../brand-events.schema.json");
});

/** By key. */
function explanations(): ReadonlyMap<string, Explained> {
  const rows = ["### For all accounts", "### For one account"].flatMap(
    (heading) => tableBelow("settings.md", heading).rows,
  );
  return new Map(
    rows.map(([key, , fallback, , meaning = ""]) => {
      const value = unquoted(fallback);
      const isDefault = value !== "none" && value !== "required";
      const explained = { description: plain(meaning), ...(isDefault ? { default: JSON.parse(value) } : {}) };
      return [unquoted(key), explained];
    }),
  );
}

/** Without links and marks. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/ ?See \[[^\]]*\]\([^)]*\)\.?/g, "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*([a-z][a-z ]*)\*/g, "$1")
    .replaceAll("`", "");
}
