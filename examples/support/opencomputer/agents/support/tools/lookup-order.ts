import { defineTool } from "@opencomputer/agent";
import { billing } from "../connections/billing.ts";

export const lookupOrder = defineTool({
  name: "lookup_order",
  description: "Look up an order by its number and return its current status",
  input: {
    type: "object",
    properties: { orderId: { type: "string", description: "The order's number, such as 1042" } },
    required: ["orderId"],
    additionalProperties: false,
  },
  async run({ input, signal }) {
    const orderId = String(input.orderId);
    const response = await billing.fetch(`/orders/${encodeURIComponent(orderId)}`, { signal });
    if (response.status === 404) throw new Error(`There is no order ${orderId}`);
    if (!response.ok) throw new Error(`The billing server answered ${response.status}`);
    return response.json();
  },
});
