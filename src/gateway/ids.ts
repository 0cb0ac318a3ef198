import { v4, v7 } from "uuid";
import type { IdSource } from "../core/domain/ids.ts";

export const ids: IdSource = { ordered: () => v7(), random: () => v4() };
