/**
 * Do 100, 1,000 or 5,000 live subscribers with different filters keep up with 2,000 events per second? Each subscribes
 * to the flows of ten hosts; there are a fifth as many hosts as subscribers, so an event matches about 50 subscribers
 * regardless of their number. Each reader's messages are compared with the expected matches of its filter. Latency is
 * measured from the sensor's timestamp to the reader's callback; the readers are in this process, on the same cores.
 * One further subscriber never reads.
 */
import WebSocket from 'ws';
import { type Service, startService, tokenFor } from '../scripts/service.ts';
import { unreadStream } from './load/beside.ts';
import type { BenchRow } from './result.ts';

const counts = [100, 1000, 5000] as const;
const hostsPerFilter = 10;
/** Number of subscribers per host. Each subscriber selects ten hosts, so an event matches 50 subscribers. */
const subscribersPerHost = 5;
const eventsPerSecond = 2000;
/** Sizes of the bodies, in rotation: 100 events on average. */
const bodySizes = [1, 199, 20, 180, 100] as const;
/**
 * Largest latency in the histogram. Latencies are counted per millisecond, because sorting six million of them would
 * take longer than receiving them.
 */
const slowestMs = 60_000;

const address = (host: number) => `10.20.${host >> 8}.${host & 255}`;
/**
 * Steps between a subscriber's hosts. The steps never repeat a host, because they are coprime to the number of hosts.
 */
const steps = [1, 3, 7, 9, 11, 13, 17, 19] as const;
/** Returns ten different hosts, with a different selection for each subscriber. */
const wantedBy = (subscriber: number, hosts: number) =>
  Array.from(
    { length: hostsPerFilter },
    (_, n) => (subscriber * 7 + n * (steps[subscriber % steps.length] ?? 1)) % hosts,
  );

/** Measures live subscriptions. @param subscribers - multiples of 50 */
export async function run(seconds = 30, subscribers: readonly number[] = counts): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const count of subscribers) rows.push(...(await ofSubscribers(count, seconds)));
  return rows;
}

async function ofSubscribers(subscribers: number, seconds: number): Promise<BenchRow[]> {
  const hosts = subscribers / subscribersPerHost;
  // All readers have the same address, unlike real subscribers, so the limit per address is lifted.
  const service = await startService({ env: { CANDOR_LIMITS_MAX_CONNECTIONS_PER_ADDRESS: '0' } });
  const [sensor, analyst] = [await tokenFor(service, 'sensor'), await tokenFor(service, 'analyst')];
  const expected = new Float64Array(subscribers);
  const received = new Float64Array(subscribers);
  const latencies = new Float64Array(slowestMs + 1);
  const followers: number[][] = Array.from({ length: hosts }, () => []);
  let lagged = 0;

  const sockets = await Promise.all(
    Array.from({ length: subscribers }, async (_, n) => {
      const wanted = wantedBy(n, hosts);
      for (const host of wanted) followers[host]?.push(n);
      return subscribe(service, analyst, wanted.map(address), (text) => {
        if (!text.startsWith('{"type":"event"')) {
          if (text.startsWith('{"type":"lagged"')) lagged++;
          return;
        }
        received[n] = (received[n] ?? 0) + 1;
        // The sensor's clock is in the uid: reading it is cheaper than parsing 100,000 messages per second.
        const at = text.indexOf('"connection_id":"C');
        const latencyMs = Date.now() - Number(text.slice(at + 18, at + 31));
        const slot = Math.min(Math.max(0, latencyMs), slowestMs);
        latencies[slot] = (latencies[slot] ?? 0) + 1;
      });
    }),
  );
  const stalled = unreadStream(service, analyst);

  const start = performance.now();
  let sent = 0;
  let body = 0;
  while (performance.now() - start < seconds * 1000) {
    const lines: string[] = [];
    const size = bodySizes[body++ % bodySizes.length] ?? 1;
    for (let n = 0; n < size; n++) {
      const host = (sent * 31) % hosts;
      for (const follower of followers[host] ?? []) expected[follower] = (expected[follower] ?? 0) + 1;
      lines.push(connLine(sent++, host));
    }
    await post(service, sensor, lines.join('\n'));
    const due = start + (sent / eventsPerSecond) * 1000;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  }
  const elapsedS = (performance.now() - start) / 1000;
  await new Promise((resolve) => setTimeout(resolve, 2000));

  const total = received.reduce((sum, n) => sum + n, 0);
  const lost = expected.reduce((sum, n, i) => sum + Math.abs(n - (received[i] ?? 0)), 0);
  for (const socket of sockets) socket.terminate();
  stalled.destroy();
  const peak = service.peakRssAnonMiB();
  await service.stop();
  const row = (variant: string, value: number, unit: string): BenchRow => ({
    question: `${subscribers.toLocaleString('en')} subscribers, each with its own filter, 2,000 events/s`,
    variant,
    value,
    unit,
  });
  return [
    row('events sent', Math.round(sent / elapsedS), 'events/s'),
    row('messages received', Math.round(total / elapsedS), 'messages/s'),
    row('matching readers per event', Math.round((total / sent) * 10) / 10, 'readers'),
    row('lost or repeated', lost, 'messages'),
    row('lagged notices', lagged, 'messages'),
    row('sensor to reader, p50', quantile(latencies, 0.5), 'ms'),
    row('sensor to reader, p99', quantile(latencies, 0.99), 'ms'),
    row('service, peak', Math.round(peak), 'MiB RssAnon'),
  ];
}

/** Returns a quantile of the latencies, which are counted per millisecond: `share` of them do not exceed it. */
function quantile(counts: Float64Array, share: number): number {
  const wanted = share * counts.reduce((sum, n) => sum + n, 0);
  let below = 0;
  for (const [ms, n] of counts.entries()) {
    below += n;
    if (below >= wanted) return ms;
  }
  return counts.length;
}

function connLine(n: number, host: number): string {
  const now = Date.now();
  return `{"ts":${now / 1000},"uid":"C${now}x${n}","id.orig_h":"${address(host)}","id.orig_p":${20000 + (n % 40000)},"id.resp_h":"203.0.113.${n % 250}","id.resp_p":443,"proto":"tcp","service":"ssl","duration":0.5,"orig_bytes":512,"resp_bytes":4096,"conn_state":"SF","history":"ShADadFf","orig_pkts":9,"orig_ip_bytes":980,"resp_pkts":11,"resp_ip_bytes":4668}`;
}

async function post(service: Service, token: string, body: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
  const response = await fetch(`${service.url}/api/v1/ingest`, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

function subscribe(
  service: Service,
  token: string,
  addresses: string[],
  onText: (text: string) => void,
): Promise<WebSocket> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('close', (code, reason) => reject(new Error(`closed: ${code} ${reason}`)));
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', channel: 'events.network', filters: { src_ip: addresses } })),
    );
    socket.on('message', (data: Buffer) => {
      const text = data.toString('latin1');
      if (text.startsWith('{"type":"subscribed"')) resolve(socket);
      else onText(text);
    });
  });
}

if (import.meta.main) console.table(await run(Number(process.argv[2] ?? 30)));
