import fc from "fast-check";
import type { Person } from "../../../../src/core/domain/message.ts";
import { ANA, BEN } from "../../../helpers/core/inbound.ts";

/** What a person, or a program over the API, sets out to do as soon as there is what it is about. */
export type Deed =
  | { readonly does: "approve" | "reject" | "run-again"; readonly by: "ana" | "ben"; readonly twice: boolean }
  | {
      readonly does: "post" | "answer by click" | "answer in words";
      readonly by: "ana" | "ben";
      readonly twice: boolean;
    }
  | { readonly does: "submit"; readonly mode: "queue" | "steer" | "interrupt" }
  | { readonly does: "interrupt" | "end" | "answer by api" };

export const PEOPLE: Readonly<Record<"ana" | "ben", Person>> = { ana: ANA, ben: BEN };

const by = fc.constantFrom("ana" as const, "ben" as const);

const decide = fc.record({
  does: fc.constantFrom("approve" as const, "approve" as const, "reject" as const, "run-again" as const),
  by,
  twice: fc.boolean(),
});

/** Most proposals are approved, and asked for again where they came into doubt. */
export const deciders: fc.Arbitrary<Deed[]> = fc
  .tuple(
    fc.array(decide, { maxLength: 4 }),
    fc.array(fc.constantFrom<Deed>({ does: "end" }, { does: "interrupt" }), { maxLength: 1 }),
    fc.boolean(),
  )
  .map(([more, owner, twice]) => [
    { does: "approve", by: "ana", twice },
    { does: "run-again", by: "ben", twice },
    ...more,
    ...owner,
  ]);

export const talkers: fc.Arbitrary<Deed[]> = fc
  .array(
    fc.oneof(
      fc.record({
        does: fc.constantFrom(
          "post" as const,
          "post" as const,
          "answer by click" as const,
          "answer in words" as const,
          "approve" as const,
        ),
        by,
        twice: fc.boolean(),
      }),
      fc.record({
        does: fc.constant("submit" as const),
        mode: fc.constantFrom("queue" as const, "steer" as const, "interrupt" as const),
      }),
      fc.constantFrom<Deed>({ does: "interrupt" }, { does: "end" }, { does: "answer by api" }),
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((deeds) => [{ does: "post", by: "ana", twice: false }, ...deeds]);

/** What the target does with a call. `late`: the caller gives up, and the call arrives all the same. */
export type Ending = "answers" | "refuses" | "breaks behind it" | "is silent" | "late" | "not called";
export const endings = fc.array(
  fc.constantFrom<Ending>("answers", "answers", "refuses", "breaks behind it", "is silent", "late", "not called"),
  { maxLength: 4 },
);

/** What the platform answers to a message. */
export type Answer = "sent" | "lost" | "never there" | "limited";
export const answers = fc.array(fc.constantFrom<Answer>("sent", "sent", "lost", "never there", "limited"), {
  maxLength: 6,
});

/** What the model says next. */
export type Says = "words" | "looks up" | "asks" | "proposes" | "proposes two";
export const scripts = fc.array(fc.constantFrom<Says>("words", "looks up", "asks", "proposes", "proposes two"), {
  maxLength: 6,
});
