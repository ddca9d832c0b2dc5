// Credentials in a file keep the contract.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FileCredentials } from "../../../lambdas/job/credentials/file-credentials.ts";
import { LogLines } from "../runtime/log-lines.ts";
import { temporaryDirectory } from "../storage/directory/temporary-directory.ts";
import { credentialsContract } from "./credentials-contract.ts";

credentialsContract("FileCredentials", async () => {
  const file = join(await temporaryDirectory(), "credentials.json");
  const credentials = new FileCredentials(file, new LogLines());
  return { credentials, store: (text) => writeFile(file, text, { mode: 0o600 }) };
});
