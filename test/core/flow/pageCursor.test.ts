import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCode } from "../../../src/core/domain/errors.ts";
import { decodeCursor, encodeCursor, toPage } from "../../../src/core/flow/pageCursor.ts";

const place = (n: number) => ({ createdAt: new Date(n * 1000).toISOString(), id: `ses_${n}` });

describe("a cursor", () => {
  it("comes back as the place it was made of, and is fit for an address", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (n) => {
        const cursor = encodeCursor(place(n));
        expect(encodeURIComponent(cursor)).toBe(cursor);
        expect(decodeCursor(cursor)).toEqual(place(n));
      }),
    );
  });

  it("is refused as `bad_request` when it was made up, whatever it holds", () => {
    const made = (value: unknown) => Buffer.from(JSON.stringify(value) ?? "").toString("base64url");
    const odd = ["2026-13-41T99:00:00.000Z", "now", ""].map((time) => made([time, "ses_1"]));
    const cursors = fc.oneof(
      fc.string(),
      fc.json().map(made),
      fc.constantFrom(...odd, made([place(1).createdAt, "\u0000"])),
    );
    fc.assert(
      fc.property(cursors, (cursor) => {
        try {
          decodeCursor(cursor);
          return false;
        } catch (error) {
          return isCode(error, "bad_request");
        }
      }),
    );
  });
});

describe("a page", () => {
  const rows = [3, 2, 1].map(place);

  it("names the place of its last item while there is more", () => {
    const page = toPage(rows, 2);
    expect(page.items).toEqual(rows.slice(0, 2));
    expect(decodeCursor(page.nextCursor ?? "")).toEqual(place(2));
  });

  it.each([3, 4])("is the last one when %i were asked for and 3 are left", (limit) => {
    expect(toPage(rows, limit)).toEqual({ items: rows, nextCursor: null });
  });
});
