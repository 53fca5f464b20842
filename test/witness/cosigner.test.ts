import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { verifyNative } from '../../src/crypto/ed25519.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import type { DurableLedger } from '../../src/ledger/open.ts';
import { limits } from '../../src/limits.ts';
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import { formatNote, noteSignatureBy, parseNote, parseVerifierKey } from '../../src/tlog/note.ts';
import { Cosigner } from '../../src/witness/cosigner.ts';
import { parsePolicy } from '../../src/witness/parse-policy.ts';
import { originHash } from '../../src/witness/witness-state.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { codeOf, entry, folder, open } from '../ledger/fixture.ts';
import { cosignature, rogueWitness } from './rogue-witness.ts';
import { startWitness } from './started-witness.ts';
import { keyPair } from './test-log.ts';

interface Asked {
  readonly vkey: string;
  readonly url: string;
}

let made = 0;
/** Returns this many new log entries. */
const entries = (n: number) => Array.from({ length: n }, () => entry(made++));

/** Returns a policy with a group of `k` of these witnesses, named a, b, c … */
function policyOf(witnesses: readonly Asked[], k = 2) {
  const names = witnesses.map((_, i) => String.fromCharCode(97 + i));
  const lines = witnesses.map(({ vkey, url }, i) => `witness ${names[i]} ${vkey} ${url}\n`).join('');
  const quorum = k === 0 ? 'quorum none\n' : `group g ${k} ${names.join(' ')}\nquorum g\n`;
  return parsePolicy(sha256, new TextEncoder().encode(lines + quorum));
}

interface Options {
  readonly k?: number;
  readonly waitMs?: number;
  readonly fail?: 'open' | 'closed';
  readonly requestTimeoutMs?: number;
  readonly now?: () => number;
}

async function startCosigner(
  ledger: DurableLedger,
  witnesses: readonly Asked[],
  { k = 2, waitMs = 600_000, fail = 'closed', now = Date.now, ...more }: Options = {},
) {
  const logged: { level: number; msg: string; [field: string]: unknown }[] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const policy = policyOf(witnesses, k);
  const cosigner = await Cosigner.start({
    ledger,
    policy,
    waitMs,
    intervalMs: 20,
    fail,
    log,
    now,
    ...more,
  });
  onTestFinished(() => cosigner.close());
  /** Returns size and signers of the served checkpoint; verifies every known signature. */
  const served = async () => {
    const logKey = (await loggedBy(ledger)).key.public;
    const note = parseNote(await cosigner.checkpoint());
    expect(noteSignatureBy(note, logKey, verifyNative)).toBeDefined();
    const by = policy.witnesses.filter(({ key }) => noteSignatureBy(note, key, verifyNative) !== undefined);
    expect(note.signatures).toHaveLength(1 + by.length);
    return { size: parseCheckpoint(note.text).size, by: by.map(({ name }) => name).join('') };
  };
  const serves = (size: number, by: string) =>
    vi.waitFor(async () => expect(await served()).toEqual({ size, by }), { timeout: 60_000, interval: 20 });
  const failing = (name: string, kind: string) =>
    vi.waitFor(() => expect(statusOf(cosigner, name).failing).toBe(kind), { timeout: 60_000, interval: 20 });
  return { cosigner, served, serves, failing, logged };
}

function statusOf(cosigner: Cosigner, name: string) {
  const found = cosigner.status().witnesses.find((witness) => witness.name === name);
  if (found === undefined) throw new Error(`no witness ${name}`);
  return found;
}

async function loggedBy(ledger: DurableLedger) {
  return { key: { public: parseVerifierKey(sha256, (await ledger.status()).checkpoint_vkey) } };
}

/** Opens a ledger with this many entries and real witnesses, using the wall clock. */
async function logWith(size: number, witnesses: number) {
  const dataDir = folder();
  const ledger = await open(dataDir, { origin: 'log.example/test' });
  if (size > 0) await ledger.append(entries(size));
  const log = await loggedBy(ledger);
  const clock = {
    offsetMs: 0,
    get ms() {
      return Date.now() + this.offsetMs;
    },
  };
  const start = (n: number, path?: string) =>
    startWitness(log, { name: `witness.example/${n}`, now: clock, ...(path === undefined ? {} : { path }) });
  const started = await Promise.all(Array.from({ length: witnesses }, (_, n) => start(n)));
  return { dataDir, ledger, witnesses: started, start, clock };
}

/** Returns a witness whose address has no listener. */
async function nobody(): Promise<Asked> {
  const { url, vkey } = await rogueWitness(() => undefined);
  return { url: url.replace(/\d+$/, '1'), vkey };
}

describe('quorum', () => {
  test('with three working witnesses, the checkpoint has all cosignatures and follows the log', async () => {
    const { ledger, witnesses } = await logWith(3, 3);
    const { serves, cosigner } = await startCosigner(ledger, witnesses);
    await serves(3, 'abc');
    await ledger.append(entries(4));
    await serves(7, 'abc');
    await ledger.append(entries(1));
    await serves(8, 'abc');
    expect(await ledger.keptCheckpoint()).toBe(await cosigner.checkpoint());
    expect(cosigner.status()).toMatchObject({ quorum: true, published_size: 8, candidate_size: 8 });
    expect(cosigner.status().witnesses).toMatchObject(
      ['a', 'b', 'c'].map((name, n) => {
        const { vkey } = witnesses[n]!;
        return { name, vkey, size: 8, cosignatures: 3, failures: [] };
      }),
    );
  });

  test("the log's signature comes first, then those of the witnesses in the policy's order", async () => {
    const { ledger, witnesses } = await logWith(1, 3);
    const { serves, cosigner } = await startCosigner(ledger, witnesses, { k: 3 });
    await serves(1, 'abc');
    const { signatures } = parseNote(await cosigner.checkpoint());
    expect(signatures.map(({ name }) => name)).toEqual([
      'log.example/test',
      ...[0, 1, 2].map((n) => `witness.example/${n}`),
    ]);
  });

  test('an unreachable witness does not delay the others', async () => {
    const { ledger, witnesses } = await logWith(2, 2);
    const { serves, failing } = await startCosigner(ledger, [...witnesses, await nobody()]);
    await serves(2, 'ab');
    await failing('c', 'unreachable');
    await ledger.append(entries(3));
    await serves(5, 'ab');
  });

  test('a slow witness does not delay the others, and its cosignature is added when it arrives', async () => {
    const { ledger, witnesses } = await logWith(2, 2);
    const waiting: (() => void)[] = [];
    const slow = await rogueWitness((response, { note }, key) => {
      waiting.push(() => response.end(cosignature(note, key)));
    });
    const { serves } = await startCosigner(ledger, [slow, ...witnesses]);
    await serves(2, 'bc');
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 60_000);
    waiting.shift()?.();
    await serves(2, 'abc');
    expect(parseNote((await ledger.keptCheckpoint()) ?? '').signatures).toHaveLength(4);
  });

  test('a slow witness that cosigned an older checkpoint then gets a request for the new checkpoint', async () => {
    const { ledger, witnesses } = await logWith(2, 2);
    const waiting: (() => void)[] = [];
    const slow = await rogueWitness((response, { note }, key) => {
      waiting.push(() => response.end(cosignature(note, key)));
    });
    const { serves } = await startCosigner(ledger, [...witnesses, slow]);
    await serves(2, 'ab');
    await ledger.append(entries(2));
    await serves(4, 'ab');
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 60_000);
    waiting.shift()?.();
    await vi.waitFor(() => expect(waiting).toHaveLength(1), 60_000);
    expect(slow.requests[1]).toMatchObject({ oldSize: 2 });
    waiting.shift()?.();
    await serves(4, 'abc');
  });

  test('a request to a witness that never responds times out, and is repeated', async () => {
    const { ledger, witnesses } = await logWith(2, 2);
    const silent = await rogueWitness(() => undefined);
    const { serves, failing } = await startCosigner(ledger, [...witnesses, silent], {
      requestTimeoutMs: 200,
    });
    await serves(2, 'ab');
    await failing('c', 'timeout');
    await vi.waitFor(() => expect(silent.requests.length).toBeGreaterThan(1), { timeout: 60_000 });
  });

  test('cosignatures of a log without appends are renewed', async () => {
    const { ledger, witnesses, clock } = await logWith(2, 2);
    const { serves, cosigner } = await startCosigner(ledger, witnesses, { now: () => clock.ms });
    await serves(2, 'ab');
    const before = await cosigner.checkpoint();
    clock.offsetMs = limits.cosignatureAgeMs + 60_000;
    await vi.waitFor(() => expect(statusOf(cosigner, 'a').cosignatures).toBe(2), { timeout: 60_000 });
    await vi.waitFor(() => expect(statusOf(cosigner, 'b').cosignatures).toBe(2), { timeout: 60_000 });
    await vi.waitFor(async () => expect(await cosigner.checkpoint()).not.toBe(before), 60_000);
    await serves(2, 'ab');
    expect(cosigner.status().published_age_s).toBeGreaterThan(limits.cosignatureAgeMs / 1000);
  });

  test('cosignatures are requested again as soon as a clock that was a year ahead is corrected', async () => {
    const { ledger, witnesses } = await logWith(2, 2);
    let aheadMs = 365 * 86_400_000;
    const { serves, failing } = await startCosigner(ledger, witnesses, { now: () => Date.now() + aheadMs });
    await failing('a', 'bad_time');
    await failing('b', 'bad_time');
    aheadMs = 0;
    await serves(2, 'ab');
  });

  test('with the quorum none, every checkpoint is published', async () => {
    const { ledger } = await logWith(2, 0);
    const { serves } = await startCosigner(ledger, [], { k: 0 });
    await serves(2, '');
    await ledger.append(entries(2));
    await serves(4, '');
  });

  test('an empty log has no checkpoint until its first entry', async () => {
    const { ledger, witnesses } = await logWith(0, 2);
    const { cosigner, serves } = await startCosigner(ledger, witnesses);
    expect(await codeOf(cosigner.checkpoint())).toBe('LOG_EMPTY');
    await ledger.append(entries(1));
    await serves(1, 'ab');
  });

  test('during continuous appends, the served checkpoint only grows', async () => {
    const { ledger, witnesses } = await logWith(1, 3);
    const { served, serves } = await startCosigner(ledger, witnesses);
    await serves(1, 'abc');
    let last = 1;
    for (let n = 0; n < 60; n++) {
      await ledger.append(entries(3));
      const { size, by } = await served();
      expect(size).toBeGreaterThanOrEqual(last);
      expect(by.length).toBeGreaterThanOrEqual(2);
      last = size;
    }
    await serves(181, 'abc');
  });
});

describe('a misbehaving witness affects only itself', () => {
  const text = (response: ServerResponse, status: number, body: string, type = 'text/plain') => {
    response.writeHead(status, { 'content-type': type });
    response.end(body);
  };
  const hour = 3600 * 1000;
  const other = keyPair('rogue.example/w', 4);

  test.for([
    ['bad_signature', 'signs another text', (r, { note }, key) => r.end(cosignature(`1${note}`, key))],
    ['bad_signature', 'signs with another key', (r, { note }) => r.end(cosignature(note, other))],
    [
      'bad_signature',
      'has a signature of the wrong length',
      (r, { note }, key) => r.end(cosignature(note, key).replace(/.{8}\n$/, '\n')),
    ],
    ['bad_time', 'is an hour ahead', (r, { note }, key) => r.end(cosignature(note, key, Date.now() + hour))],
    ['bad_time', 'is an hour behind', (r, { note }, key) => r.end(cosignature(note, key, Date.now() - hour))],
    ['malformed', 'responds with nothing', (r) => r.end()],
    ['malformed', 'responds with garbage', (r) => r.end(Buffer.from([0, 255, 254, 10, 10]))],
    ['malformed', 'responds with an HTML page', (r) => r.end('<html>\n\n<body>')],
    ['malformed', 'puts more before its line', (r, { note }, key) => r.end(`x\n${cosignature(note, key)}`)],
    [
      'malformed',
      'cosigns our text with additional text',
      (r, { note }, key) => {
        const { text, signatures } = parseNote(note);
        const longer = formatNote({ text: `${text}\nmore\n`, signatures });
        r.end(`more\n\n${cosignature(longer, key)}`);
      },
    ],
    [
      'malformed',
      'never ends',
      (r) => {
        const more = () => {
          while (!r.destroyed && r.write('x'.repeat(65_536)));
        };
        r.on('drain', more);
        more();
      },
    ],
    ['malformed', 'omits the size', (r) => text(r, 409, 'x\n', 'text/x.tlog.size')],
    ['malformed', 'reports an invalid size', (r) => text(r, 409, '9007199254740993\n', 'text/x.tlog.size')],
    [
      'refused',
      'reports a different size each time',
      (r, { oldSize }) => text(r, 409, `${oldSize === 1 ? 2 : 1}\n`, 'text/x.tlog.size'),
    ],
    [
      'refused',
      'reports the size in the request',
      (r, { oldSize }) => text(r, 409, `${oldSize}\n`, 'text/x.tlog.size; charset=utf-8'),
    ],
    ['ahead', 'claims a huge size', (r) => text(r, 409, '9007199254740991\n', 'text/x.tlog.size')],
    ['inconsistent', 'finds another tree', (r) => text(r, 422, 'no\n')],
    ['inconsistent', 'finds another root', (r) => text(r, 409, 'no\n')],
    ['unknown_log', 'does not know the log', (r) => text(r, 404, 'no\n')],
    ['unknown_key', 'does not know the key of the log', (r) => text(r, 403, 'no\n')],
    ['refused', 'does not understand', (r) => text(r, 400, 'no\n')],
    [
      'refused',
      'redirects',
      (r) => {
        r.writeHead(307, { location: 'http://127.0.0.1:1/' });
        r.end();
      },
    ],
    ['unavailable', 'is broken', (r) => text(r, 500, 'x'.repeat(100_000))],
    ['unavailable', 'rejects with 429', (r) => text(r, 429, 'no\n')],
    ['unreachable', 'hangs up', (r) => r.destroy()],
  ] as [string, string, Parameters<typeof rogueWitness>[0]][])('%s: a witness that %s', async ([kind, , answer]) => {
    const { ledger, witnesses } = await logWith(3, 2);
    const rogue = await rogueWitness(answer);
    const { serves, failing, cosigner } = await startCosigner(ledger, [rogue, ...witnesses]);
    await serves(3, 'bc');
    await failing('a', kind);
    await ledger.append(entries(2));
    await serves(5, 'bc');
    expect(statusOf(cosigner, 'a').cosignatures).toBe(0);
    expect(statusOf(cosigner, 'a').failures.map((failure) => failure.kind)).toEqual([kind]);
    // A witness that reports a size gets a second request, from that size. Further requests follow after a pause
    // of a second.
    expect(rogue.requests.length).toBeLessThan(20);
  });
});

describe('without a quorum', () => {
  test('fail-closed: checkpoints are not published before a quorum, and a published checkpoint stays', async () => {
    const { ledger, witnesses } = await logWith(2, 2);
    const [a, b] = witnesses;
    const { url } = b!;
    await b!.stop();
    const { cosigner, serves, served, failing } = await startCosigner(ledger, witnesses, { waitMs: 100 });
    await failing('b', 'unreachable');
    expect(await codeOf(cosigner.checkpoint())).toBe('UNAVAILABLE');
    expect(cosigner.status()).toMatchObject({ quorum: false, candidate_size: 2 });
    expect(cosigner.status().published_size).toBeUndefined();

    const log = { key: { public: parseVerifierKey(sha256, (await ledger.status()).checkpoint_vkey) } };
    const port = Number(new URL(url).port);
    const back = await startWitness(log, {
      path: b!.path,
      name: 'witness.example/1',
      port,
      now: { ms: Date.now() },
    });
    await serves(2, 'ab');
    await back.stop();
    await a!.stop();
    await ledger.append(entries(5));
    await failing('a', 'unreachable');
    await vi.waitFor(() => expect(cosigner.status().candidate_size).toBe(7), 60_000);
    expect(await served()).toEqual({ size: 2, by: 'ab' });
  });

  test('fail-open: the checkpoint is published after the wait, and late cosignatures are added', async () => {
    const { ledger, witnesses } = await logWith(2, 1);
    const gate: { open: boolean } = { open: false };
    const late = await rogueWitness((response, { note }, key) => {
      if (gate.open) response.end(cosignature(note, key));
      else response.writeHead(503).end();
    });
    const asked = [...witnesses, late, await nobody()];
    const { cosigner, serves } = await startCosigner(ledger, asked, { waitMs: 200, fail: 'open', k: 2 });
    await serves(2, 'a');
    expect(cosigner.status()).toMatchObject({ quorum: false, published_size: 2 });
    gate.open = true;
    await serves(2, 'ab');
    expect(cosigner.status().quorum).toBe(true);
    gate.open = false;
    await ledger.append(entries(1));
    await serves(3, 'a');
  });
});

test('fail-open, during continuous appends: each checkpoint is published after its wait, before the next', async () => {
  const { ledger } = await logWith(1, 0);
  const asked = [await nobody(), await nobody()];
  const { served, serves, cosigner } = await startCosigner(ledger, asked, { waitMs: 50, fail: 'open' });
  await serves(1, '');
  const sizes = new Set<number>();
  await vi.waitFor(
    async () => {
      await ledger.append(entries(1));
      sizes.add((await served()).size);
      expect(sizes.size).toBeGreaterThan(4);
    },
    { timeout: 60_000, interval: 5 },
  );
  expect(cosigner.status().quorum).toBe(false);
});

describe('restarts', () => {
  test('of the service: the published checkpoint is served immediately, without any witness', async () => {
    const { dataDir, ledger, witnesses } = await logWith(4, 2);
    const first = await startCosigner(ledger, witnesses);
    await first.serves(4, 'ab');
    await first.cosigner.close();
    await ledger.append(entries(1));
    await ledger.close();
    for (const witness of witnesses) await witness.stop();

    const again = await open(dataDir);
    const second = await startCosigner(again, witnesses);
    expect(await second.served()).toEqual({ size: 4, by: 'ab' });
    expect(second.cosigner.status()).toMatchObject({ quorum: true, published_size: 4 });
  });

  test('with a stricter policy: fail-closed serves no checkpoint without a quorum; fail-open serves the previous one', async () => {
    const { ledger, witnesses } = await logWith(4, 2);
    const first = await startCosigner(ledger, witnesses);
    await first.serves(4, 'ab');
    await first.cosigner.close();
    const others = [...witnesses, await nobody()];
    for (const witness of witnesses) await witness.stop();
    const closed = await startCosigner(ledger, others, { k: 3 });
    expect(await codeOf(closed.cosigner.checkpoint())).toBe('UNAVAILABLE');
    await closed.cosigner.close();
    const opened = await startCosigner(ledger, others, { k: 3, fail: 'open' });
    expect(await opened.served()).toEqual({ size: 4, by: 'ab' });
  });

  test('of a witness: the log queries the witness’s size again', async () => {
    const { ledger, witnesses, start } = await logWith(4, 2);
    const first = await startCosigner(ledger, witnesses);
    await first.serves(4, 'ab');
    await first.cosigner.close();
    await ledger.append(entries(3));
    await witnesses[1]!.stop();
    const [a, b] = [witnesses[0]!, await start(1, witnesses[1]!.path)];
    const stranger = await startCosigner(ledger, [b, a]);
    await stranger.serves(7, 'ab');
    expect(statusOf(stranger.cosigner, 'a').failures).toEqual([]);
  });

  test('of a log that grew from an older copy: the witness stores evidence, whatever size it had cosigned', async () => {
    const { dataDir, ledger, clock } = await logWith(1, 0);
    const copy = folder();
    await ledger.close();
    cloneFolder(dataDir, copy);
    for (const size of [2, 3, 4]) {
      const [path, other] = [folder(), folder()];
      cloneFolder(dataDir, path);
      cloneFolder(copy, other);
      const log = await open(path);
      await log.append(entries(size - 1));
      const witness = await startWitness(await loggedBy(log), { now: clock });
      const first = await startCosigner(log, [witness], { k: 1 });
      await first.serves(size, 'a');
      await first.cosigner.close();
      await log.close();
      const restored = await open(other);
      await restored.append(entries(6));
      const second = await startCosigner(restored, [witness], { k: 1 });
      await second.failing('a', 'inconsistent');
      expect(statusOf(second.cosigner, 'a').failures).toEqual([{ kind: 'inconsistent', times: 1 }]);
      await vi.waitFor(() => expect(witness.contradictions).toHaveLength(1), {
        timeout: 60_000,
        interval: 20,
      });
      expect(witness.contradictions[0]!.evidence).toBeDefined();
      await second.cosigner.close();
      await restored.close();
    }
  });

  test('of a log from an older copy: witnesses reject its checkpoint, it is not published, and errors are logged', async () => {
    const { dataDir, ledger, witnesses } = await logWith(3, 3);
    const first = await startCosigner(ledger, witnesses);
    await first.serves(3, 'abc');
    await first.cosigner.close();
    await ledger.close();
    const copy = folder();
    cloneFolder(dataDir, copy);

    const grown = await open(dataDir);
    await grown.append(entries(5));
    const second = await startCosigner(grown, witnesses);
    await second.serves(8, 'abc');
    await second.cosigner.close();
    await grown.close();

    const restored = await open(copy);
    await restored.append(entries(2));
    for (const fail of ['closed', 'open'] as const) {
      const third = await startCosigner(restored, witnesses, { fail, waitMs: 100 });
      for (const name of ['a', 'b', 'c']) await third.failing(name, 'ahead');
      expect(await third.served()).toEqual({ size: 3, by: 'abc' });
      expect(statusOf(third.cosigner, 'a')).toMatchObject({
        size: 8,
        failures: [{ kind: 'ahead', times: 1 }],
      });
      expect(statusOf(third.cosigner, 'b')).toMatchObject({ rollback_since: expect.any(String) });
      expect(third.cosigner.findings()).toEqual([
        {
          code: 'witness_rollback',
          since: expect.any(String),
          message: expect.stringMatching(/witness c .* 8/),
        },
      ]);
      expect(third.logged.filter(({ level }) => level === 50)).toMatchObject(
        [1, 2, 3].map(() => ({ failure: 'ahead', claimed: 8 })),
      );
      await third.cosigner.close();
    }

    // Once the log is larger than the reported size, its consistency proof shows the contradiction.
    await restored.append(entries(6));
    const fourth = await startCosigner(restored, witnesses);
    for (const name of ['a', 'b', 'c']) await fourth.failing(name, 'inconsistent');
    expect(await fourth.served()).toEqual({ size: 3, by: 'abc' });
    for (const witness of witnesses) expect(parseCheckpoint(parseNote(noteOf(witness)).text).size).toBe(8);
  });
});

test('with a new origin, checkpoints of the old log are not served, and the new log is cosigned', async () => {
  const { dataDir, ledger, witnesses } = await logWith(3, 1);
  const first = await startCosigner(ledger, witnesses, { k: 1 });
  await first.serves(3, 'a');
  await first.cosigner.close();
  await ledger.close();
  const renamed = await open(dataDir, { origin: 'log.example/new' });
  const key = { public: parseVerifierKey(sha256, (await renamed.status()).checkpoint_vkey) };
  const refusing = await startCosigner(renamed, witnesses, { k: 1 });
  await refusing.failing('a', 'unknown_log');
  expect(await codeOf(refusing.cosigner.checkpoint())).toBe('UNAVAILABLE');
  await refusing.cosigner.close();
  const told = await startWitness({ key }, { now: { ms: Date.now() } });
  const second = await startCosigner(renamed, [told], { k: 1 });
  await second.serves(3, 'a');
});

test('after a revocation of the checkpoint key, its checkpoints are not served, and witnesses reject the new key until they know it', async () => {
  const { ledger, witnesses, clock } = await logWith(2, 2);
  const { served, serves, failing, cosigner } = await startCosigner(ledger, witnesses, { now: () => clock.ms });
  await serves(2, 'ab');
  const old = await cosigner.checkpoint();
  const revoked = (await ledger.keyRecords()).find(({ purpose }) => purpose === 'checkpoint');
  await ledger.revokeKey(revoked?.kid ?? '', 'a test', 'tester');
  await failing('a', 'unknown_key');
  await failing('b', 'unknown_key');
  expect(await codeOf(cosigner.checkpoint())).toBe('UNAVAILABLE');
  expect(parseNote(await ledger.checkpoint()).signatures[0]?.keyId).not.toBe(parseNote(old).signatures[0]?.keyId);

  const log = await loggedBy(ledger);
  for (const { url, path, key, stop } of witnesses) {
    await stop();
    await startWitness(log, { path, name: key.name, port: Number(new URL(url).port), now: clock });
  }
  clock.offsetMs = limits.maxWitnessPauseMs;
  // The checkpoint may include the entries of the revocation.
  await vi.waitFor(async () => expect((await served()).by).toBe('ab'), { timeout: 60_000, interval: 20 });
  expect((await served()).size).toBeGreaterThanOrEqual(2);
});

test('after a revocation while a newer checkpoint waits for its quorum, only checkpoints of the new key are served', async () => {
  const { ledger } = await logWith(2, 0);
  const waiting: (() => void)[] = [];
  const slow = await rogueWitness((response, { note }, key) => {
    waiting.push(() => response.end(cosignature(note, key)));
  });
  const asked = (times: number) => vi.waitFor(() => expect(slow.requests).toHaveLength(times), 60_000);
  const { served, serves, cosigner } = await startCosigner(ledger, [slow], { k: 1 });
  await asked(1);
  waiting.shift()?.();
  await serves(2, 'a');
  await ledger.append(entries(1));
  await asked(2);
  const key = (await ledger.keyRecords()).find(({ purpose }) => purpose === 'checkpoint');
  await ledger.revokeKey(key?.kid ?? '', 'a test', 'tester');
  await vi.waitFor(async () => expect(await codeOf(cosigner.checkpoint())).toBe('UNAVAILABLE'), 60_000);
  // The cosignature of the checkpoint of the revoked key arrives.
  waiting.shift()?.();
  await asked(3);
  expect(await codeOf(cosigner.checkpoint())).toBe('UNAVAILABLE');
  waiting.shift()?.();
  // The checkpoint may include the entries of the revocation.
  await vi.waitFor(async () => expect((await served()).by).toBe('a'), { timeout: 60_000, interval: 20 });
  expect((await served()).size).toBeGreaterThanOrEqual(3);
});

test('a shutdown does not wait for witnesses', async () => {
  const { ledger, witnesses } = await logWith(2, 1);
  const silent = await rogueWitness(() => undefined);
  const { cosigner } = await startCosigner(ledger, [...witnesses, silent]);
  await vi.waitFor(() => expect(silent.requests).toHaveLength(1), 60_000);
  await cosigner.close();
  const { requests } = silent;
  await ledger.append(entries(1));
  expect(requests).toHaveLength(1);
});

function noteOf({ state }: { state: { latest(hash: string): { note: string } | undefined } }): string {
  return state.latest(originHash('log.example/test'))?.note ?? '';
}
