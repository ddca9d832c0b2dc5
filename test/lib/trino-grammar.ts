// The grammar of Trino, without the other grammars of its package. The modules of the package import each other without
// file endings, which Node itself refuses.

import { registerHooks } from "node:module";

const hooks = registerHooks({
  resolve: (specifier, context, next) => {
    const inside = context.parentURL?.includes("/dt-sql-parser/") && specifier.startsWith(".");
    if (!inside || specifier.endsWith(".js")) {
      return next(specifier, context);
    }
    try {
      return next(`${specifier}.js`, context);
    } catch {
      return next(`${specifier}/index.js`, context);
    }
  },
});

export const { TrinoSQL } = await import("dt-sql-parser/dist/parser/trino/index.js");
export const { TrinoSqlLexer } = await import("dt-sql-parser/dist/lib/trino/TrinoSqlLexer.js");

hooks.deregister();
