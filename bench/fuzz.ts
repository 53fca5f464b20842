/**
 * Does the service withstand invalid input? Random requests to every operation, with every role and encoding, malformed
 * HTTP packets and broken WebSocket frames are sent as fast as the service responds, during ingest. A run fails for a
 * response that is not in the contract, an error without a cause, a gauge below zero, a log record at level error,
 * continuous memory growth, leftover state, or fewer than a million requests an hour. FUZZ_SECONDS sets the duration,
 * and FUZZ_SEED sets the seed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { rssAnonMiB, type Service, startService } from '../scripts/service.ts';
import { Fuzzer } from './fuzz/fuzzer.ts';
import { type BenchRow, rowsAbout } from './result.ts';

const { FUZZ_SECONDS = '3600', FUZZ_SEED = '1' } = process.env;
const eventsPerBody = 1000;
const bodiesPerS = 5;
/**
 * Duration after which caches are full, in seconds. A longer run fails if memory grows by more than `most` in its
 * second half.
 */
const warmS = 1200;
const most = 1.25;
/** Minimum number of requests that a run of an hour must send, not counting packets and frames. */
const leastPerHour = 1_000_000;

export async function run(seconds = Number(FUZZ_SECONDS), seed = Number(FUZZ_SEED)): Promise<BenchRow[]> {
  const env = {
    CANDOR_DISCOVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    CANDOR_TRANSPARENCY_SEAL_EVENTS: 'true',
  };
  const service = await startService({ env });
  const row = rowsAbout(`${Math.round(seconds / 60)} minutes of random requests, packets and frames`);
  const samples: BenchRow[] = [];
  const fuzzer = await Fuzzer.start(service, seed);
  const began = performance.now();
  const elapsedS = () => (performance.now() - began) / 1000;
  const ingest = ingestBeside(service, await fuzzer.tokenFor('sensor'), () => elapsedS() < seconds);
  // The first failure is reported with the last output of the service.
  const fuzzing = fuzzer.run(seconds * 1000).catch((error: unknown) => {
    throw new Error(service.output.slice(-20).join('\n'), { cause: error });
  });
  for (const share of [0.1, 0.5, 1]) {
    await pause(1000 * (share * seconds - elapsedS()));
    samples.push(row(`memory after ${share * 100} %`, Math.round(rssAnonMiB(service.pid)), 'MiB RssAnon'));
  }
  await fuzzing;
  const stored = await ingest;
  const code = await service.stop();
  const [, half, whole] = samples.map(({ value }) => value);
  if (seconds >= warmS && whole! > most * half!)
    fuzzer.faults.push({
      seed,
      about: 'memory',
      problem: `${half} MiB after half of the time, ${whole} MiB at its end`,
    });
  const { requests, packets, sockets } = fuzzer.done;
  if (seconds >= 3600 && requests < leastPerHour)
    fuzzer.faults.push({ seed, about: 'requests', problem: `only ${requests} were sent` });
  const errors = service.output.filter((line) => /"level":[56]0/.test(line));
  const outcomes = [...fuzzer.outcomes].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (fuzzer.faults.length > 0 || errors.length > 0 || code !== 0) {
    const lines = [...fuzzer.faults, ...errors.slice(0, 50), Object.fromEntries(outcomes)];
    throw new Error(`exit code ${code}\n${lines.map((line) => JSON.stringify(line)).join('\n')}`);
  }
  return [
    row('requests', requests, 'requests', `seeds from ${seed}`),
    row('packets', packets, 'packets'),
    row('sockets', sockets, 'WebSocket connections'),
    row('events stored beside them', stored, 'events'),
    ...samples,
    row('peak', Math.round(service.peakRssAnonMiB()), 'MiB RssAnon'),
    ...outcomes.map(([name, count]) => row(name, count, 'times')),
  ];
}

/** Ingests during the run, and returns the number of events stored. */
async function ingestBeside(service: Service, token: string, goesOn: () => boolean): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
  let stored = 0;
  for (let body = 0; goesOn(); body++) {
    const lines = Array.from({ length: eventsPerBody }, (_, n) => connLine(body * eventsPerBody + n));
    const options = { method: 'POST', headers, body: lines.join('\n') };
    const answer = await fetch(`${service.url}/api/v1/ingest`, options);
    const text = await answer.text();
    if (answer.ok) stored += (JSON.parse(text) as { data: { accepted: number } }).data.accepted;
    else if (answer.status !== 503 && answer.status !== 429) throw new Error(`ingest: ${answer.status} ${text}`);
    await pause(1000 / bodiesPerS);
  }
  return stored;
}

const connLine = (n: number) =>
  `{"ts":${Date.now() / 1000},"uid":"B${n}","id.orig_h":"10.1.${(n >> 8) % 16}.${n % 256}","id.orig_p":${1024 + (n % 60000)},"id.resp_h":"198.51.100.${n % 250}","id.resp_p":443,"proto":"tcp","conn_state":"SF","orig_bytes":${n % 5000}}`;

if (import.meta.main) console.table(await run());
