import { inject, test } from "vitest";
import { sweepSample } from "./sample.ts";

test("1-9 A5 G5 a sample of the crash-point sweep, the queue on PostgreSQL", { timeout: 300_000 }, () =>
  sweepSample(inject("databaseServerUrl"), null),
);
