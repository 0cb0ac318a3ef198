import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createChildMessageReader } from "../../../src/core/runtime/childMessage.ts";
import { encode, lineReader } from "../../../src/core/runtime/protocol.ts";

describe("lines", () => {
  test("come out as they went in, wherever the stream is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary" }), { maxLength: 8 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 7 })),
        (texts, sizes) => {
          const stream = Buffer.from(texts.map((message) => encode({ type: "loadFailed", message })).join(""));
          const lines: string[] = [];
          const read = lineReader(
            1_000,
            (line) => lines.push(line),
            () => lines.push("overflow"),
          );
          for (let at = 0; at < stream.length; ) {
            const size = sizes.next().value;
            read(stream.subarray(at, at + size));
            at += size;
          }
          expect(lines.map((line) => JSON.parse(line).message)).toEqual(texts);
        },
      ),
    );
  });

  test("over the limit stop the reading, also without an end", () => {
    const seen: string[] = [];
    const read = lineReader(
      4,
      (line) => seen.push(line),
      () => seen.push("overflow"),
    );
    read(Buffer.from("abcd\nab"));
    read(Buffer.from("cde"));
    read(Buffer.from("\nok\n"));
    expect(seen).toEqual(["abcd", "overflow"]);
  });
});

describe("a child's message", () => {
  const read = createChildMessageReader();
  const traffic = { writes: [{ status: null }], opaque: 0 };

  test("of the protocol is read", () => {
    const message = { type: "settled" as const, id: 1, outcome: { kind: "returned" as const, json: "1" }, traffic };
    expect(read(encode(message).trim())).toEqual(message);
  });

  test.each([
    "",
    "null",
    "[]",
    '{"type":"toString"}',
    '{"type":"ready","more":1}',
    '{"type":"rendered","id":1}',
    '{"type":"settled","id":0,"outcome":{"kind":"returned","json":"1"},"traffic":{"writes":[],"opaque":0}}',
    '{"type":"settled","id":1,"outcome":{"kind":"returned","json":"1"},"traffic":{"writes":[{"status":"200"}],"opaque":0}}',
    '{"type":"settled","id":1,"outcome":{"kind":"lost"},"traffic":{"writes":[],"opaque":-1}}',
  ])("of another shape is refused: %s", (line) => {
    expect(read(line)).toBeNull();
  });
});
