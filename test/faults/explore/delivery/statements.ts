import { type DeliveryInput, type DeliveryStatus, stepDelivery } from "../../../../src/core/domain/delivery.ts";

/** A row of `deliveries`, as far as its statements look at it. */
export interface Row {
  readonly status: DeliveryStatus;
  /** Whose claim was the last: only that one holds the row's fence. */
  readonly holder: Holder | null;
  /** `past`: over. Null: nobody sends it. */
  readonly lease: "ahead" | "past" | null;
  readonly due: boolean;
  /** Why it was given up: nobody could say whether it is there. */
  readonly inDoubt: boolean;
}

export type Holder = 0 | 1;

function move(row: Row, input: DeliveryInput, change: Partial<Row>): Row | null {
  const status = stepDelivery(row.status, input);
  return status && { ...row, ...change, status };
}

/** Under the fence of the claim, from where the claim left it. */
const settle =
  (inputs: Partial<Record<DeliveryStatus, DeliveryInput>>, change: Partial<Row>) =>
  (row: Row, by: Holder): Row | null => {
    const input = inputs[row.status];
    return row.holder === by && input ? move(row, input, { lease: null, ...change }) : null;
  };

/** The store's statements, said again over a small row; `statements.test.ts` holds each of them against the SQL. */
export const STATEMENTS = {
  /** An unknown one stays unknown and is taken for a look: it is not due again before the lease is over. */
  claim(row: Row, by: Holder): Row | null {
    if (!row.due) return null;
    if (row.status === "unknown") return { ...row, holder: by, due: false };
    return row.status === "queued" ? move(row, "claim", { holder: by, lease: "ahead" }) : null;
  },
  markSent: settle({ sending: "accepted", unknown: "found" }, { inDoubt: false }),
  requeue: settle({ sending: "refused", unknown: "absent" }, { due: false, inDoubt: false }),
  markUnknown: (row: Row, by: Holder): Row | null =>
    row.status === "unknown"
      ? row.holder === by
        ? { ...row, due: false, inDoubt: false }
        : null
      : settle({ sending: "lost" }, { due: false, inDoubt: false })(row, by),
  /** `inDoubt` is its code. */
  markDead: (row: Row, by: Holder, inDoubt: boolean): Row | null =>
    settle({ sending: "dropped", unknown: "dropped" }, { due: true, inDoubt })(row, by),
  lose: (row: Row): Row | null =>
    row.lease === "past" ? move(row, "lost", { lease: null, due: true, inDoubt: false }) : null,
  offerAgain: (row: Row): Row | null =>
    move(row, row.inDoubt ? "lookAgain" : "offerAgain", { due: true, inDoubt: false }),
};

export type Statements = typeof STATEMENTS;

/** What a lane's first is looked for among. */
export const isOpen = ({ status }: Row): boolean => status !== "sent" && status !== "dead";
