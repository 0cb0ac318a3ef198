import { describe, expect, it } from "vitest";
import {
  DELIVERY_INPUTS,
  DELIVERY_STATUSES,
  type DeliveryInput,
  type DeliveryStatus,
  stepDelivery,
} from "../../../src/core/domain/delivery.ts";

const never = Object.fromEntries(DELIVERY_INPUTS.map((input) => [input, null])) as Record<DeliveryInput, null>;

const TABLE: Record<DeliveryStatus, Record<DeliveryInput, DeliveryStatus | null>> = {
  queued: { ...never, claim: "sending" },
  sending: { ...never, accepted: "sent", refused: "queued", dropped: "dead", lost: "unknown" },
  sent: never,
  unknown: { ...never, found: "sent", absent: "queued", dropped: "dead" },
  dead: { ...never, offerAgain: "queued", lookAgain: "unknown" },
};

describe("a delivery", () => {
  for (const status of DELIVERY_STATUSES) {
    for (const input of DELIVERY_INPUTS) {
      const to = TABLE[status][input];
      it(`G5 ${status} ${to === null ? `refuses ${input}` : `goes by ${input} to ${to}`}`, () => {
        expect(stepDelivery(status, input)).toBe(to);
      });
    }
  }
});
