import { findDefects } from "./find-defects.ts";
import { SERVICE_DEFECTS } from "./service-defects.ts";

findDefects(SERVICE_DEFECTS);
