// Where the AWS clients of the function find credentials: in its environment, where Lambda puts them.

import type { Plugin } from "esbuild";

const CHAIN = "@aws-sdk/credential-provider-node";
const ENVIRONMENT = "@aws-sdk/credential-provider-env";

/**
 * A plugin for esbuild. The chain of the SDK would look in the environment too, and bring the other ways with it: a
 * profile, a login in the browser, the output of a program, the metadata of an instance. None of them exists there.
 */
export function credentialsOfLambda(): Plugin {
  return {
    name: "credentials of Lambda",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: new RegExp(`^${CHAIN}$`) }, ({ resolveDir }) => ({
        path: ENVIRONMENT,
        namespace: CHAIN,
        pluginData: resolveDir,
      }));
      onLoad({ filter: /^/, namespace: CHAIN }, ({ pluginData: resolveDir }: { pluginData: string }) => ({
        contents: `export { fromEnv as defaultProvider } from "${ENVIRONMENT}";`,
        resolveDir,
      }));
    },
  };
}
