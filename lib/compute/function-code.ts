// The function's code: bundled from the sources by a clone, taken as it is from the installed package, which has no
// sources and whose users have no esbuild.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AssetHashType, DockerImage } from "aws-cdk-lib";
import { Code } from "aws-cdk-lib/aws-lambda";
import { type BundlingOptions, type NodejsFunctionProps, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { SETTINGS_FILE } from "../../lambdas/sync/settings-file.ts";
import { FUNCTION_BUNDLE, FUNCTION_FILE, FUNCTION_HANDLER } from "./function-bundle.ts";

/** Beside the built construct. A clone has no such folder. */
const BUILT = fileURLToPath(new URL("function/", import.meta.url));

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

type FunctionCode = Pick<
  NodejsFunctionProps,
  "code" | "handler" | "entry" | "projectRoot" | "depsLockFilePath" | "bundling"
>;

/** @param settingsFile the text of the settings file beside the code */
export function functionCode(settingsFile: string): FunctionCode {
  if (existsSync(BUILT)) return { code: builtCode(settingsFile), handler: FUNCTION_HANDLER };
  return {
    entry: root(FUNCTION_BUNDLE.entry),
    projectRoot: root("."),
    depsLockFilePath: root("package-lock.json"),
    bundling: bundling(settingsFile),
  };
}

function builtCode(settingsFile: string): Code {
  const hash = createHash("sha256")
    .update(readFileSync(join(BUILT, FUNCTION_FILE)))
    .update(settingsFile);
  return Code.fromAsset(BUILT, {
    // The CDK makes an asset once for each hash, and would not see that the settings of two deployments differ.
    assetHashType: AssetHashType.CUSTOM,
    assetHash: hash.digest("hex"),
    bundling: {
      // The CDK asks for one. It is not used, because the files are copied here.
      image: DockerImage.fromRegistry("scratch"),
      local: {
        tryBundle: (folder) => {
          copyFileSync(join(BUILT, FUNCTION_FILE), join(folder, FUNCTION_FILE));
          writeFileSync(join(folder, SETTINGS_FILE), settingsFile);
          return true;
        },
      },
    },
  });
}

function bundling(settingsFile: string): BundlingOptions {
  const { target, mainFields, banner, http } = FUNCTION_BUNDLE;
  return {
    format: OutputFormat.ESM,
    // The tested versions of the AWS clients run, whatever version the runtime includes.
    bundleAwsSDK: true,
    mainFields: [...mainFields],
    target,
    esbuildArgs: { "--minify-syntax": true, "--alias": [`node:http=${root(http)}`] },
    commandHooks: {
      beforeBundling: () => [],
      beforeInstall: () => [],
      afterBundling: (_, folder) => [writeFileCommand(`${folder}/${SETTINGS_FILE}`, settingsFile)],
    },
    banner,
  };
}

/** Base64 has no character that a shell interprets. */
function writeFileCommand(path: string, text: string): string {
  const program =
    "const [path, text] = process.argv.slice(1); fs.writeFileSync(path, Buffer.from(text, 'base64'))";
  return `node -e "${program}" "${path}" ${Buffer.from(text).toString("base64")}`;
}
