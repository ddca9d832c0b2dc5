import { ACCOUNT_DEFECTS } from "./account-defects.ts";
import { DAMAGE_DEFECTS } from "./damage-defects.ts";
import { findDefects } from "./find-defects.ts";
import { SERVICE_DEFECTS } from "./service-defects.ts";

findDefects([...SERVICE_DEFECTS, ...ACCOUNT_DEFECTS, ...DAMAGE_DEFECTS]);
