export interface Customer {
  readonly id: string;
  readonly name: string;
  plan: string;
  readonly nextCharge: string;
}

export interface Order {
  readonly orderId: string;
  readonly status: string;
  readonly items: number;
}

/** What the billing server knows at its start. */
export const newCustomers = (): Map<string, Customer> =>
  new Map(
    [
      { id: "cus_42", name: "Acme", plan: "free", nextCharge: "$49.00" },
      { id: "cus_7", name: "Globex", plan: "team-monthly", nextCharge: "$480.00" },
      { id: "cus_100", name: "Initech", plan: "pro-yearly", nextCharge: "$1,200.00" },
    ].map((customer) => [customer.id, customer]),
  );

export const ORDERS: ReadonlyMap<string, Order> = new Map(
  [
    { orderId: "1042", status: "shipped", items: 2 },
    { orderId: "1043", status: "processing", items: 1 },
    { orderId: "ord_42", status: "delivered", items: 5 },
  ].map((order) => [order.orderId, order]),
);
