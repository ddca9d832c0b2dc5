import { describe, expect, it } from "vitest";
import { connect } from "./connection.ts";

describe("a service client", () => {
  it.each([[{ listPointer: "data" }], [{ detailPointer: "/~2" }]])(
    "is refused with the settings %j",
    async (options) => {
      await expect(connect({}, options)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    },
  );
});
