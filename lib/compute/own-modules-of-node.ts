// Node.js's own modules in built code: asked for, not imported.

import { isBuiltin } from "node:module";
import type { OnLoadResult, Plugin } from "esbuild";

const IMPORTED = "imported from Node.js";
const REQUIRED = "required from Node.js";

/** As undici has it where Node.js was built without. Nothing here speaks HTTP/2, and loading it takes 4 ms. */
const WITHOUT_HTTP2 = "module.exports = { constants: {} };";

/**
 * Imported as ever: nothing in them takes time, and the first file of the command line, which says so if Node.js is too
 * old, runs where modules cannot be asked for.
 */
const AS_EVER: ReadonlySet<string> = new Set(["module", "os", "path", "v8"]);

/**
 * A plugin for esbuild. An import of one of Node.js's own modules reads all of its exports, and some of them load other
 * modules when they are read: `WebSocket` of `node:http` takes 27 ms of each start, `stdin` of `node:process` 4, those
 * of `node:util` 4, `ReadStream` of `node:fs` 3. Built code reads what it uses.
 */
export function ownModulesOfNode(): Plugin {
  return {
    name: "own modules of Node.js",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^[\w/:]+$/ }, ({ path, kind }) => {
        if (!isBuiltin(path)) return undefined;
        const name = path.replace(/^node:/, "");
        if (kind === "import-statement" && AS_EVER.has(name)) return { path, external: true };
        if (kind === "import-statement") return { path: name, namespace: IMPORTED };
        // What is imported when it is used has a file of its own, and would have one together with what is required.
        return { path: name, namespace: REQUIRED, suffix: kind === "dynamic-import" ? "?later" : "" };
      });
      onLoad({ filter: /^/, namespace: IMPORTED }, ({ path }) => imported(path));
      onLoad({ filter: /^/, namespace: REQUIRED }, ({ path }) => required(path));
    },
  };
}

/** Its exports by name. esbuild leaves out those that are not used. */
function imported(name: string): OnLoadResult {
  const names = Object.keys(process.getBuiltinModule(`node:${name}`) ?? {}).filter((key) =>
    /^[a-z]\w*$/i.test(key),
  );
  const exported = names.map(
    (key) => `const own_${key} = /* @__PURE__ */ read("${key}"); export { own_${key} as ${key} };`,
  );
  return {
    contents: [
      `const own = ${ask(name)};`,
      "const read = (name) => own[name];",
      "export default own;",
      ...exported,
    ].join("\n"),
  };
}

function required(name: string): OnLoadResult {
  return { contents: name === "http2" ? WITHOUT_HTTP2 : `module.exports = ${ask(name)};` };
}

function ask(name: string): string {
  return `process.getBuiltinModule("node:${name}")`;
}
