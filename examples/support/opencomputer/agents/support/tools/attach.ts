import { defineTool } from "@opencomputer/agent";
import { billing } from "../connections/billing.ts";

export const attach = defineTool({
  name: "attach",
  description: "Move a customer onto a plan; a person approves the change before it happens",
  input: {
    type: "object",
    properties: {
      customerId: { type: "string", description: "The customer's id, such as cus_42" },
      planId: { type: "string", description: "The plan's id, such as team-monthly" },
    },
    required: ["customerId", "planId"],
    additionalProperties: false,
  },

  // What the person sees. It reads and does not write.
  async preview({ input, signal }) {
    const customerId = String(input.customerId);
    const response = await billing.fetch(`/customers/${encodeURIComponent(customerId)}`, { signal });
    if (response.status === 404) throw new Error(`There is no customer ${customerId}`);
    if (!response.ok) throw new Error(`The billing server answered ${response.status}`);
    const customer = await response.json();
    return {
      title: `Move ${customer.name} to ${String(input.planId)}`,
      facts: [
        { label: "Today", value: customer.plan },
        { label: "After", value: String(input.planId) },
        { label: "Charged now", value: customer.nextCharge },
      ],
    };
  },

  // Runs once somebody approved, with the arguments on the card. The key makes a second attempt harmless.
  async apply({ input, decision, signal }) {
    const response = await billing.fetch("/subscriptions", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": decision.id },
      body: JSON.stringify({ customer: input.customerId, plan: input.planId }),
      signal,
    });
    // A write answered 4xx was refused and is `failed`; what any other throw leaves behind is `unconfirmed`.
    if (!response.ok) throw new Error(`The billing server answered ${response.status}`);
    return response.json();
  },
});
