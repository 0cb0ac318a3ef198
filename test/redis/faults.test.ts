import { inject, test } from "vitest";
import { sweepSample } from "../faults/sample.ts";

test("1-9 A5 G5 a sample of the crash-point sweep, the queue on Redis", () =>
  sweepSample(inject("databaseServerUrl"), process.env.REDIS_URL ?? ""));
