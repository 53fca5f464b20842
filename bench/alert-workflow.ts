/**
 * How much does work on many alerts cost? Measures groups, an export and a change of 10,000 alerts over HTTP, with
 * 100,000 alerts stored and ingest at the same time. The service runs in a separate process.
 */
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { login, type Service, startService } from '../scripts/service.ts';
import { alertGroupings } from '../src/contract/vocabulary.ts';
import { limits } from '../src/limits.ts';
import { type BenchRow, rowOfRounds } from './result.ts';

const alerts = 100_000;
/** Alerts per rule, below the limit above which a rule's alerts are collapsed. */
const perRule = 40;
const linesOfBody = 20_000;
const rounds = 5;

export async function run(): Promise<BenchRow[]> {
  const service = await startService();
  try {
    const client = new Client(service, await login(service));
    for (let from = 0; from < alerts; from += linesOfBody) await client.ingest(from, linesOfBody);
    return [
      ...(await groups(client)),
      ...(await exports(client)),
      await stalled(service, client),
      ...(await change(client)),
    ];
  } finally {
    await service.stop();
  }
}

const all = `of ${alerts.toLocaleString('en')} alerts`;

async function groups(client: Client): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const by of alertGroupings) {
    const times = [];
    for (let n = 0; n < rounds; n++) times.push(await timed(() => client.json(`/api/v1/alerts/groups?by=${by}`)));
    rows.push(rowOfRounds({ question: `Groups ${all}`, variant: `by ${by}`, unit: 'ms' }, times));
  }
  return rows;
}

async function exports(client: Client): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const format of ['ndjson', 'ocsf']) {
    let lines = 0;
    let bytes = 0;
    const ms = await timed(async () => {
      const { body } = await client.get(`/api/v1/alerts/export?format=${format}`);
      for await (const part of body!) {
        bytes += part.length;
        for (const byte of part) if (byte === 10) lines++;
      }
    });
    if (lines !== alerts) throw new Error(`${lines} lines of ${alerts}`);
    const question = `Export ${all}`;
    rows.push(
      { question, variant: `${format}, all of it`, value: ms / 1000, unit: 's' },
      { question, variant: `${format}, all of it`, value: bytes / ms / 1000, unit: 'MB/s' },
    );
  }
  return rows;
}

/** Starts the maximum number of exports and reads none of them. */
async function stalled(service: Service, client: Client): Promise<BenchRow> {
  const before = service.peakRssAnonMiB();
  const { hostname, port } = new URL(service.url);
  const sockets = Array.from({ length: limits.maxExports }, () => {
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(`GET /api/v1/alerts/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.token}\r\n\r\n`);
    return socket;
  });
  await setTimeout(5000);
  for (const socket of sockets) socket.destroy();
  return {
    question: `${limits.maxExports} unread exports ${all}`,
    variant: 'growth of peak anonymous memory',
    value: service.peakRssAnonMiB() - before,
    unit: 'MiB',
  };
}

async function change(client: Client): Promise<BenchRow[]> {
  const body = JSON.stringify({
    filter: { src_ip: '10.0.0.0/19', status: 'new' },
    change: { status: 'in_progress', assignee: 'team red' },
  });
  const alone = await latencies(client, () => setTimeout(3000));
  let changed = 0;
  let ms = 0;
  const meanwhile = await latencies(client, async () => {
    ms = await timed(async () => {
      const answer = await client.post('/api/v1/alerts/bulk', body, 'application/json');
      ({ changed } = ((await answer.json()) as { data: { changed: number } }).data);
    });
  });
  const question = `A change of ${changed.toLocaleString('en')} ${all}`;
  return [
    { question, variant: 'all of it', value: ms / 1000, unit: 's' },
    ...[['alone', alone] as const, ['meanwhile', meanwhile] as const].flatMap(([when, times]) =>
      [0.5, 0.99].map((q) => ({
        question,
        variant: `small ingest bodies, one after the other, ${when}, p${q * 100}`,
        value: quantile(times, q),
        unit: 'ms' as const,
      })),
    ),
  ];
}

/** Measures small ingest bodies, one after the other, during the work. */
async function latencies(client: Client, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  const done = work().finally(() => {
    isOver = true;
  });
  for (let n = 0; !isOver; n++) times.push(await timed(() => client.ingest(alerts + n, 1)));
  await done;
  return times;
}

class Client {
  readonly token: string;
  readonly #url: string;

  constructor({ url }: Service, token: string) {
    this.#url = url;
    this.token = token;
  }

  async get(path: string): Promise<Response> {
    return checked(await fetch(this.#url + path, { headers: { authorization: `Bearer ${this.token}` } }));
  }

  async json(path: string): Promise<unknown> {
    return (await this.get(path)).json();
  }

  async post(path: string, body: string, type: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': type };
    return checked(await fetch(this.#url + path, { method: 'POST', headers, body }));
  }

  async ingest(from: number, count: number): Promise<void> {
    const lines = Array.from({ length: count }, (_, n) => line(from + n));
    await (await this.post('/api/v1/ingest', lines.join('\n'), 'application/x-ndjson')).text();
  }
}

function line(n: number): string {
  const rule = Math.floor(n / perRule);
  return JSON.stringify({
    timestamp: new Date(Date.UTC(2026, 10, 20) + n).toISOString().replace('Z', '+0000'),
    event_type: 'alert',
    src_ip: `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
    src_port: 1024 + (n % 60_000),
    dest_ip: `198.51.${n & 255}.${(n >> 8) & 255}`,
    dest_port: 443,
    proto: 'TCP',
    alert: {
      action: 'allowed',
      gid: 1,
      signature_id: 1_000_000 + rule,
      rev: 1,
      signature: `ET MALWARE Odd beacon of family ${rule}`,
      category: `Class ${rule % 40}`,
      severity: 3 + (rule % 2),
    },
  });
}

async function checked(answer: Response): Promise<Response> {
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function quantile(times: readonly number[], q: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(q * sorted.length), sorted.length - 1)] ?? Number.NaN;
}
