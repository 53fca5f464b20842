/**
 * How much does sealing of events cost? Two services, one with `transparency.seal_events`, receive the same load
 * alternately. The time to digest an event and the time of a proof are measured separately. Sealing runs on the
 * analytics pool during ingest, here every five seconds instead of every minute, so that each round includes it.
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Service, startService, tokenFor } from '../scripts/service.ts';
import { connLines } from '../scripts/traffic/index.ts';
import { sha256 } from '../src/crypto/sha256.ts';
import { PieceWriter, pieces, type RowRun } from '../src/events/event-piece.ts';
import { openBlock } from '../src/events/format/block.ts';
import { BlockBuilder } from '../src/events/format/block-builder.ts';
import { connRecords } from './conn-records.ts';
import { load } from './ingest-http.ts';
import { zeekJsonBodies } from './load/moving.ts';
import { type BenchRow, median, rowOfRounds } from './result.ts';
import { untilCounted } from './until-counted.ts';

const linesPerBody = 10_000;
const rounds = 4;
const secondsPerRound = 8;

export async function run(): Promise<BenchRow[]> {
  return [...digestRows(), ...(await serviceRows())];
}

function digestRows(): BenchRow[] {
  const builder = new BlockBuilder('network', Date.UTC(2026, 0, 2));
  const buffers: ArrayBuffer[] = [];
  const rows = 12 * 8160;
  for (const record of connRecords(rows)) {
    builder.add(record);
    if (builder.full) buffers.push(builder.finish());
  }
  function* runs(): Generator<RowRun> {
    for (const [place, buffer] of buffers.entries()) {
      const block = openBlock(buffer, 1 + place * 8160);
      yield { block, first: 0, end: block.rows };
    }
  }
  const writer = new PieceWriter();
  let bytes = 0;
  const figures = Array.from({ length: 15 }, () => {
    const began = process.cpuUsage().user;
    bytes = 0;
    for (const piece of pieces(runs())) {
      const written = writer.write(piece);
      sha256(written);
      bytes += written.length;
    }
    return (process.cpuUsage().user - began) / rows;
  }).slice(3); // The first three are discarded, because code is compiled.
  const row = { question: 'Digesting events, CPU time', variant: 'conn records' };
  const tell = (us: number) => Math.round(us * 1000) / 1000;
  return [
    rowOfRounds({ ...row, unit: 'µs/event' }, figures, tell),
    { ...row, value: Math.round(bytes / rows), unit: 'bytes/event hashed' },
  ];
}

async function serviceRows(): Promise<BenchRow[]> {
  const lines = [...connLines(7, 6 * linesPerBody)];
  const sealing = { CANDOR_TRANSPARENCY_SEAL_EVENTS: 'true', CANDOR_TRANSPARENCY_SEAL_INTERVAL_MS: '5000' };
  const services = [await startService(), await startService({ env: sealing })] as const;
  const tokens = await Promise.all(services.map((service) => tokenFor(service, 'sensor')));
  const rates: number[][] = [[], []];
  const accepted = [0, 0];
  let began = [0, 0];
  for (let round = -1; round < rounds; round++) {
    if (round === 0) began = services.map(({ pid }) => cpuUs(pid));
    // The service that receives load first alternates between rounds.
    for (const place of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const { url } = services[place]!;
      const bodies = zeekJsonBodies(lines, linesPerBody);
      const loaded = await load(`${url}/api/v1/ingest`, tokens[place]!, bodies, false, secondsPerRound);
      await untilCounted(services[place]!);
      if (round < 0) continue;
      rates[place]!.push(loaded.accepted / loaded.elapsedS);
      accepted[place]! += loaded.accepted;
    }
  }
  await setTimeout(6000); // until the last events are sealed
  const costs = services.map(({ pid }, place) => (cpuUs(pid) - began[place]!) / accepted[place]!);
  const proof = await proofMs(services[1]);
  for (const service of services) await service.stop();
  const question = 'Events per second from HTTP to disk, acknowledged';
  const [off, on] = ['sealing off', 'sealing on'].map((variant, place) =>
    rowOfRounds({ question, variant, unit: 'events/s' }, rates[place]!, Math.round),
  ) as [BenchRow, BenchRow];
  const ratios = rates[1]!.map((rate, round) => rate / rates[0]![round]!);
  const tell = (ratio: number) => Math.round(ratio * 1000) / 1000;
  const ratio = rowOfRounds({ question, variant: 'on ÷ off, by round', unit: '×' }, ratios, tell);
  const cpu = { question: 'CPU time, from HTTP to disk, counted and sealed', unit: 'µs/event' };
  const rounded = (figure: number) => Math.round(figure * 100) / 100;
  return [
    off,
    on,
    ratio,
    { ...cpu, variant: 'sealing off', value: rounded(costs[0]!) },
    { ...cpu, variant: 'sealing on', value: rounded(costs[1]!) },
    { question: 'Proof of an event', variant: 'over HTTP', value: proof, unit: 'ms' },
  ];
}

/** Returns the CPU time of a process, all threads, in µs (Linux: ticks of 10 ms). */
function cpuUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user! + system!) * 10_000;
}

async function proofMs(service: Service): Promise<number> {
  const headers = { authorization: `Bearer ${await tokenFor(service, 'analyst')}` };
  const get = (path: string) => fetch(`${service.url}/api/v1/events/network${path}`, { headers });
  const list = (await (await get('?per_page=1')).json()) as { data: { id: string }[] };
  const times: number[] = [];
  while (times.length < 50) {
    const began = performance.now();
    const answer = await get(`/${list.data[0]!.id}/proof`);
    await answer.text();
    if (answer.status === 200) times.push(performance.now() - began);
    else if (answer.status !== 503) throw new Error(`${answer.status}`);
  }
  return Math.round(median(times) * 10) / 10;
}

if (import.meta.main) console.table(await run());
