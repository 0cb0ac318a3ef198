import { bearer, defineConnection, useSecret } from "@opencomputer/agent";

/** The billing server of this example. Plain http is accepted for this machine only, and only in development. */
export const billing = defineConnection({
  id: "billing",
  origin: "http://127.0.0.1:4010",
  methods: ["GET", "POST"],
  headers: { authorization: bearer(useSecret("BILLING_API_KEY")) },
});
