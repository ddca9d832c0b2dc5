// Where the AWS clients of the function find credentials: in its environment, where Lambda puts them.

import type { Plugin } from "esbuild";

/** For what is found instead of the chain. */
const NAMESPACE = "credentials of Lambda";
const ENVIRONMENT = "@aws-sdk/credential-provider-env";

/**
 * A plugin for esbuild. The chain of the SDK would look in the environment too, and bring the other ways with it: a
 * profile, a login in the browser, the output of a program, the metadata of an instance. None of them exists there.
 */
export function credentialsOfLambda(): Plugin {
  return {
    name: NAMESPACE,
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ resolveDir }) => ({
        path: ENVIRONMENT,
        namespace: NAMESPACE,
        pluginData: resolveDir,
      }));
      onLoad({ filter: /^/, namespace: NAMESPACE }, ({ pluginData: resolveDir }: { pluginData: string }) => ({
        contents: `export { fromEnv as defaultProvider } from "${ENVIRONMENT}";`,
        resolveDir,
      }));
    },
  };
}
