import { findDefects } from "./find-defects.ts";
import { PUBLISHING_DEFECTS } from "./publishing-defects.ts";

findDefects(PUBLISHING_DEFECTS);
