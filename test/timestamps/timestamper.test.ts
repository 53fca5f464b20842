import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { DurableLedger } from '../../src/ledger/open.ts';
import { limits } from '../../src/limits.ts';
import { parseCertificates } from '../../src/timestamps/certificates.ts';
import { timestampRequest } from '../../src/timestamps/request.ts';
import { Timestamper, type TimestamperOptions } from '../../src/timestamps/timestamper.ts';
import { uuid7 } from '../../src/uuid.ts';
import { entries, folder, open } from '../ledger/fixture.ts';
import { Authority, AuthorityServer } from './authority.ts';

const kind = 'checkpoint.timestamped';

let authority: Authority;
let server: AuthorityServer;
let ledger: DurableLedger;
beforeAll(() => {
  authority = new Authority();
});
afterAll(() => authority.close());
beforeEach(async () => {
  server = await AuthorityServer.start(authority);
  ledger = await open(folder());
  await ledger.append(entries(0, 3));
});
afterEach(() => server.close());

async function start(replace: Partial<TimestamperOptions> = {}): Promise<Timestamper> {
  const timestamper = await Timestamper.start({
    ledger,
    checkpoint: () => ledger.checkpoint(),
    authorities: [server.url],
    trusted: parseCertificates(readFileSync(authority.ca, 'utf8')),
    intervalMs: 3_600_000,
    timeoutMs: 20_000,
    pauseMs: { min: 5, max: 20 },
    log: { warn: () => undefined, info: () => undefined },
    now: Date.now,
    newId: () => uuid7(Date.now()),
    ...replace,
  });
  onTestFinished(() => timestamper.close());
  running = timestamper;
  return timestamper;
}

/** Returns the record of each timestamp in the log. */
async function timestamps() {
  const { leaves } = await ledger.entries({ kinds: [kind], page: 1, per_page: 50 });
  return leaves.map(
    ({ canonical }) =>
      (JSON.parse(Buffer.from(canonical).toString()) as { data: Readonly<Record<string, string>> }).data,
  );
}

let running: Timestamper;
const findings = async () => running.findings();

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('the published checkpoint is timestamped immediately, and the token is a log entry', async () => {
  const checkpoint = await ledger.checkpoint();
  await start();
  await until(async () => (await timestamps()).length === 1);
  const [recorded] = await timestamps();
  expect(recorded).toMatchObject({ authority: server.url, checkpoint });
  expect(server.requests.map(({ type }) => type)).toEqual(['application/timestamp-query']);
  expect(await findings()).toEqual([]);
});

test('each interval has a timestamp, and a restart does not repeat requests', async () => {
  const first = await start({ intervalMs: 50 });
  await until(async () => (await timestamps()).length >= 2);
  await first.close();
  const asked = server.requests.length;
  const second = await start();
  await second.close();
  expect(server.requests).toHaveLength(asked);
  // The clock moves past the interval.
  await start({ now: () => Date.now() + 3_600_001 });
  await until(async () => server.requests.length > asked);
});

test('an empty log is not timestamped, and does not open a finding', async () => {
  ledger = await open(folder());
  await start({ intervalMs: 1 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(server.requests).toHaveLength(0);
  expect(await findings()).toEqual([]);
  await ledger.append(entries(0, 1));
  await until(async () => (await timestamps()).length >= 1);
});

describe('an authority that fails', () => {
  const other = () => authority.reply(timestampRequest(new Uint8Array(32).fill(7), Uint8Array.of(1)));
  const serve = (body: Uint8Array, type = 'application/timestamp-reply') => {
    server.answer = (_, response) => response.writeHead(200, { 'content-type': type }).end(body);
  };
  test.each<[string, string, () => unknown]>([
    ['wrong_hash', 'a response to another request', () => serve(other())],
    ['malformed', 'garbage', () => serve(Buffer.from('garbage'))],
    ['malformed', 'an empty response', () => serve(new Uint8Array(0))],
    ['refused', 'an HTML page', () => serve(Buffer.from('<html>'), 'text/html')],
    ['too_large', 'a response above the limit', () => serve(new Uint8Array(limits.maxTimestampAnswerBytes + 1))],
    [
      'refused',
      'a redirect',
      () => {
        server.answer = (_, response) => response.writeHead(302, { location: '/elsewhere' }).end();
      },
    ],
    [
      'unreachable',
      'a closed connection',
      () => {
        server.answer = (request) => request.socket.destroy();
      },
    ],
    ['not_granted', 'a refusal', () => serve(authority.reply(timestampRequest(new Uint8Array(20), Uint8Array.of(1))))],
  ])('does not change the log, and opens a finding: %s, %s', async (fault, _, answer) => {
    answer();
    await start({ intervalMs: 1 });
    await until(async () => (await findings()).length === 1);
    const [finding] = await findings();
    expect(finding).toMatchObject({ code: 'timestamp_unavailable' });
    expect(finding!.message).toContain(`${server.url}: ${fault}: `);
    expect(await timestamps()).toEqual([]);
    // A redirect is not followed: all requests have the type of a timestamp query.
    expect(new Set(server.requests.map(({ type }) => type))).toEqual(new Set(['application/timestamp-query']));

    server.answer = undefined;
    await until(async () => (await findings()).length === 0);
    expect((await timestamps()).length).toBeGreaterThan(0);
  });

  test('opens a finding if there is no response (timeout)', async () => {
    server.answer = () => undefined;
    await start({ intervalMs: 1, timeoutMs: 20 });
    await until(async () => (await findings())[0]?.message.includes('timeout') ?? false);
    expect(await timestamps()).toEqual([]);
  });

  test('opens a finding if its certificate has another issuer (untrusted)', async () => {
    const stranger = new Authority();
    onTestFinished(() => stranger.close());
    await start({ intervalMs: 1, trusted: parseCertificates(readFileSync(stranger.ca, 'utf8')) });
    await until(async () => (await findings())[0]?.message.includes('untrusted') ?? false);
    expect(await timestamps()).toEqual([]);
  });

  test('opens no finding until it has failed for an interval', async () => {
    server.answer = (request) => request.socket.destroy();
    await start();
    await until(async () => server.requests.length > 2);
    expect(await findings()).toEqual([]);
  });
});

test('authorities do not wait for each other, and closing does not wait for authorities', async () => {
  const silent = await AuthorityServer.start(authority);
  onTestFinished(() => silent.close());
  silent.answer = () => undefined;
  const timestamper = await start({ authorities: [silent.url, server.url] });
  await until(async () => (await timestamps()).length === 1);
  expect((await timestamps())[0]!.authority).toBe(server.url);
  await timestamper.close();
});
