import { benchIngress, type Ingress } from "./ingress.ts";
import { readOptions } from "./options.ts";
import type { Costs } from "./statements.ts";
import { openSurroundings } from "./surroundings.ts";
import { benchTurns, type Turns } from "./turns.ts";

/** `npm run bench`: both benches, then one JSON line with every figure. It judges nothing. */
const options = readOptions(process.argv.slice(2));
const say = (line: string): void => void (options.json || process.stdout.write(`${line}\n`));

const around = await openSurroundings(process.env.REDIS_URL || null);
try {
  say(`on ${JSON.stringify(around.machine)}`);
  const turns = await benchTurns(around, options);
  tellTurns(turns);
  const ingress = await benchIngress(around, options);
  tellIngress(ingress);
  process.stdout.write(`${JSON.stringify({ machine: around.machine, options, ingress, turns })}\n`);
} finally {
  await around.close();
}

function tellTurns({ perSecond, latencyMs, warm, costs, transactions, roundTrips }: Turns): void {
  say(`\nturns: mention to reply, scripted model, ${options.inFlight} in flight`);
  say(`  new thread   ${perSecond}/s   p50 ${latencyMs.p50} ms   p99 ${latencyMs.p99} ms`);
  say(`  warm thread  ${warm.perSecond}/s   p50 ${warm.latencyMs.p50} ms   p99 ${warm.latencyMs.p99} ms`);
  tellCosts({ ...costs, "one mention": { transactions, roundTrips } });
}

function tellIngress({ ratio, ratioToBare, contestants, costs }: Ingress): void {
  say(`\ningress: signed event to 200, ${options.connections} connections, median of ${options.rounds} rounds`);
  for (const [name, { perSecond, latencyMs, cpuMs, failed }] of Object.entries(contestants)) {
    say(
      `  ${name.padEnd(12)} ${perSecond}/s   p50 ${latencyMs.p50} ms   p99 ${latencyMs.p99} ms   cpu ${cpuMs} ms   ${failed} failed`,
    );
  }
  say(`  ratio to Bolt with one INSERT ${ratio}, to the bare server ${ratioToBare}`);
  tellCosts(costs);
}

function tellCosts(costs: Costs): void {
  for (const [flow, cost] of Object.entries(costs)) {
    say(`  ${flow.padEnd(12)} ${cost.transactions} transactions, ${cost.roundTrips} round trips`);
  }
}
