import { findDefects } from "./find-defects.ts";
import { PUBLISHING_DEFECTS } from "./publishing-defects.ts";
import { STAGING_DEFECTS } from "./staging-defects.ts";

findDefects([...PUBLISHING_DEFECTS, ...STAGING_DEFECTS]);
