import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { verifyNative } from '../../src/crypto/ed25519.ts';
import { limits } from '../../src/limits.ts';
import { toBase64 } from '../../src/tlog/base64.ts';
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import { decodeCosignature } from '../../src/tlog/cosignature.ts';
import { noteSignatureBy, parseNote, type VerifierKey } from '../../src/tlog/note.ts';
import { formatAddCheckpoint } from '../../src/witness/add-checkpoint.ts';
import { originHash, WitnessState } from '../../src/witness/witness-state.ts';
import { startWitness } from './started-witness.ts';
import { keyPair, post, signNote, TestLog } from './test-log.ts';

const origin = 'example.org/log';

/** Returns the time of the verified cosignature, from a note built from request and response. */
function cosignedAt(text: string, lines: string, key: VerifierKey): number {
  const signature = noteSignatureBy(parseNote(`${text}\n${lines}`), key, verifyNative);
  if (signature === undefined) throw new Error('no cosignature');
  return decodeCosignature(signature.signature).timeS;
}

const size = (n: number) => ({ status: 409, type: 'text/x.tlog.size', body: `${n}\n` });

describe("the witness's add-checkpoint", () => {
  test('cosigns a first checkpoint of any size up to 9, and its extensions', async () => {
    const log = new TestLog(origin);
    for (let old = 1; old <= 9; old++) {
      const { url, key, now, stop } = await startWitness(log);
      for (const [from, to] of [
        [0, old],
        [old, old + (old % 3)],
        [old + (old % 3), 13],
      ] as const) {
        const answer = await post(url, log.request(from, to));
        expect(answer.status).toBe(200);
        expect(answer.body).toMatch(/^— witness\.example\/w1 [A-Za-z0-9+/]+=*\n$/);
        expect(cosignedAt(log.text(to), answer.body, key)).toBe(now.ms / 1000);
      }
      await stop();
    }
  });

  test('cosigns the same size and root again with a new time', async () => {
    const log = new TestLog(origin);
    const { url, key, now } = await startWitness(log);
    await post(url, log.request(0, 5));
    now.ms += 60_000;
    const again = await post(url, log.request(5, 5));
    expect(cosignedAt(log.text(5), again.body, key)).toBe(now.ms / 1000);
    // If the clock was set back, a cosignature is not dated before the earlier cosignature.
    now.ms -= 120_000;
    const later = await post(url, log.request(5, 6));
    expect(cosignedAt(log.text(6), later.body, key)).toBe((now.ms + 120_000) / 1000);
  });

  test('returns 404 for an unknown log', async () => {
    const { url } = await startWitness(new TestLog(origin));
    expect(await post(url, new TestLog('example.org/other').request(0, 1))).toMatchObject({ status: 404 });
  });

  test('returns 403 without a signature by a known key, or with an invalid signature', async () => {
    const log = new TestLog(origin);
    const { url } = await startWitness(log);
    const stranger = keyPair(origin);
    const unknown = formatAddCheckpoint({ oldSize: 0, proof: [], note: log.note(3, stranger) });
    expect(await post(url, unknown)).toMatchObject({ status: 403 });
    const wrong = log.request(0, 3).replace(`${origin}\n3\n`, `${origin}\n4\n`);
    expect(await post(url, wrong)).toMatchObject({ status: 403 });
  });

  test('ignores signatures by other keys, and does not store them', async () => {
    const log = new TestLog(origin);
    const { url } = await startWitness(log);
    const stranger = signNote(log.text(3), keyPair('stranger')).split('\n').at(-2);
    expect(await post(url, `${log.request(0, 3)}${stranger}\n`)).toMatchObject({ status: 200 });
    const kept = await (await fetch(`${url}/${originHash(origin)}/checkpoint`)).text();
    expect(parseNote(kept).signatures.map(({ name }) => name)).toEqual([origin, 'witness.example/w1']);
  });

  test('returns 400 for an old size larger than the checkpoint', async () => {
    const log = new TestLog(origin);
    const { url } = await startWitness(log);
    const request = formatAddCheckpoint({ oldSize: 4, proof: [], note: log.note(3) });
    expect(await post(url, request)).toMatchObject({ status: 400 });
  });

  test("returns 409 with the witness's size, if the old size differs", async () => {
    const log = new TestLog(origin);
    const { url } = await startWitness(log);
    expect(await post(url, log.request(2, 5))).toMatchObject(size(0));
    await post(url, log.request(0, 5));
    expect(await post(url, log.request(0, 8))).toMatchObject(size(5));
    expect(await post(url, log.request(3, 4))).toMatchObject(size(5));
    expect(await post(url, log.request(0, 3))).toMatchObject(size(5));
  });

  test('returns 422 for a wrong, missing or unexpected proof', async () => {
    const log = new TestLog(origin);
    const { url, contradictions } = await startWitness(log);
    const [, extra = new Uint8Array(32)] = log.proof(3, 7);
    const none = formatAddCheckpoint({ oldSize: 0, proof: [extra], note: log.note(3) });
    expect(await post(url, none)).toMatchObject({ status: 422 });
    await post(url, log.request(0, 3));
    const proof = log.proof(3, 7);
    for (const bad of [[], proof.slice(1), [...proof, extra], proof.toReversed(), [extra, ...proof.slice(1)]]) {
      const request = formatAddCheckpoint({ oldSize: 3, proof: bad, note: log.note(7) });
      expect(await post(url, request)).toMatchObject({ status: 422 });
    }
    const same = formatAddCheckpoint({ oldSize: 3, proof: [extra], note: log.note(3) });
    expect(await post(url, same)).toMatchObject({ status: 422 });
    expect(contradictions).toEqual([]);
    expect(await post(url, log.request(3, 7))).toMatchObject({ status: 200 });
  });

  test('returns 422 for a different root of the same size, and reports it with evidence', async () => {
    const log = new TestLog(origin);
    const fork = log.branch(2, 'fork');
    const { url, contradictions } = await startWitness(log);
    await post(url, log.request(0, 4));
    expect(await post(url, fork.request(4, 4))).toMatchObject({ status: 422 });
    expect(await post(url, fork.request(2, 4))).toMatchObject(size(4));
    expect(contradictions).toHaveLength(2);
    for (const { kept, refused } of contradictions) {
      const [a, b] = [kept, refused].map((note) => {
        const parsed = parseNote(note);
        expect(noteSignatureBy(parsed, log.key.public, verifyNative)).toBeDefined();
        return parseCheckpoint(parsed.text);
      });
      expect(a?.size).toBe(b?.size);
      expect(a?.root).not.toEqual(b?.root);
    }
    expect(await post(url, fork.request(4, 6))).toMatchObject({ status: 422 });
  });

  test('requires the root of the empty tree for a checkpoint of size 0', async () => {
    const log = new TestLog(origin);
    const { url } = await startWitness(log);
    const wrong = signNote(log.text(0, log.root(1)), log.key);
    expect(await post(url, formatAddCheckpoint({ oldSize: 0, proof: [], note: wrong }))).toMatchObject({
      status: 422,
    });
    expect(await post(url, log.request(0, 0))).toMatchObject({ status: 200 });
    expect(await post(url, log.request(0, 0))).toMatchObject({ status: 200 });
    expect(await post(url, log.request(0, 3))).toMatchObject({ status: 200 });
    expect(await post(url, log.request(0, 0))).toMatchObject(size(3));
  });

  test('returns 400 for an invalid request', async () => {
    const log = new TestLog(origin);
    const { url } = await startWitness(log);
    const good = log.request(0, 3);
    const line = `${toBase64(log.root(1))}\n`;
    for (const body of [
      '',
      '\n',
      'old 0\n',
      good.replace('old 0', 'old'),
      good.replace('old 0', 'old 00'),
      good.replace('old 0', 'old -1'),
      good.replace('old 0', 'old  0'),
      good.replace('old 0', 'old 9007199254740992'),
      good.replace('old 0', 'old 99999999999999999999'),
      good.replace('old 0', 'OLD 0'),
      good.replace('old 0\n', 'old 0\r\n'),
      good.replace('old 0\n', `old 0\n${line.slice(1)}`),
      good.replace('old 0\n', 'old 0\nAAAA\n'),
      good.replace('old 0\n', `old 0\n${line.repeat(64)}`),
      good.slice(0, -1),
      `${good}\n`,
      good.replace('\n3\n', '\n03\n'),
      `\ufeff${good}`,
      Buffer.from(good, 'latin1'),
    ]) {
      expect(await post(url, body)).toMatchObject({ status: 400 });
    }
    expect(await post(url, good.replace('old 0\n', `old 0\n${line.repeat(63)}`))).toMatchObject({
      status: 422,
    });
    expect(await post(url, good)).toMatchObject({ status: 200 });
  });

  test('returns 413 for a body over the limit, and accepts a note of the maximum size', async () => {
    const log = new TestLog(origin);
    const { url } = await startWitness(log);
    expect(await post(url, 'x'.repeat(limits.maxAddCheckpointBytes + 1))).toMatchObject({ status: 413 });
    const stranger = signNote(log.text(3), keyPair('stranger')).split('\n').at(-2);
    const padded = `${log.request(0, 3)}${`${stranger}\n`.repeat(90)}`;
    expect(await post(url, padded)).toMatchObject({ status: 200 });
  });

  test('returns 4xx for any body that is not cosigned, and keeps running', async () => {
    const log = new TestLog(origin);
    const { url, failures } = await startWitness(log);
    const good = log.request(0, 6);
    const answered = async (body: string | Uint8Array) => {
      const { status } = await post(url, body);
      expect(status >= 400 && status < 500).toBe(true);
    };
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), answered), { numRuns: 40 });
    const mutation = fc
      .tuple(fc.nat(good.length - 1), fc.string({ unit: 'binary', maxLength: 4 }), fc.nat(20))
      .map(([at, put, cut]) => good.slice(0, at) + put + good.slice(at + cut))
      .filter((body) => body !== good);
    await fc.assert(fc.asyncProperty(mutation, answered), { numRuns: 80 });
    expect(failures).toEqual([]);
    expect(await post(url, good)).toMatchObject({ status: 200 });
  });
});

describe('the atomic check and write', () => {
  test('cosigns exactly one of many concurrent forks of one size', async () => {
    const log = new TestLog(origin);
    const { url, path, contradictions } = await startWitness(log);
    await post(url, log.request(0, 3));
    const forks = Array.from({ length: 40 }, (_, i) => log.branch(3, `fork-${i}`));
    const answers = await Promise.all(forks.map((fork) => post(url, fork.request(3, 8))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(39);
    expect(contradictions).toHaveLength(39);
    const winner = forks[answers.findIndex(({ status }) => status === 200)]!;
    const kept = parseNote(readFileSync(join(path, `${originHash(origin)}.checkpoint`), 'utf8'));
    expect(kept.text).toBe(winner.text(8));
  });

  test('never replaces a larger tree with a smaller one, in whatever order requests arrive', async () => {
    const log = new TestLog(origin);
    const { url } = await startWitness(log);
    await post(url, log.request(0, 1));
    const sizes = [9, 4, 7, 2, 12, 5];
    const answers = await Promise.all(sizes.map((n) => post(url, log.request(1, n))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const at = sizes[answers.findIndex(({ status }) => status === 200)]!;
    expect(await post(url, log.request(0, 20))).toMatchObject(size(at));
  });

  test('returns 503 with Retry-After if the queue is full', async () => {
    const log = new TestLog(origin);
    const { url, state } = await startWitness(log);
    const keep = state.store.bind(state);
    const disk = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    state.store = (hash, kept) => {
      begun.resolve();
      return disk.promise.then(() => keep(hash, kept));
    };
    const first = post(url, log.request(0, 3));
    await begun.promise;
    const others = Array.from({ length: limits.maxWitnessQueue }, () => post(url, log.request(0, 3)));
    const refused = await Promise.race(others);
    disk.resolve();
    expect([refused.status, (await first).status]).toEqual([503, 200]);
    const answers = (await Promise.all(others)).map(({ status }) => status);
    expect(answers.filter((status) => status === 503)).toHaveLength(1);
    expect(answers.filter((status) => status === 409)).toHaveLength(limits.maxWitnessQueue - 1);
    expect(await post(url, log.request(3, 3))).toMatchObject({ status: 200 });
  });

  test('does not cosign a checkpoint that cannot be written, and the checkpoint has no effect', async () => {
    const log = new TestLog(origin);
    const { url, state, failures } = await startWitness(log);
    await post(url, log.request(0, 3));
    const keep = state.store.bind(state);
    state.store = () => Promise.reject(new Error('no space left on device'));
    expect(await post(url, log.request(3, 5))).toMatchObject({ status: 500 });
    expect(failures).toHaveLength(1);
    state.store = keep;
    expect(await post(url, log.branch(3, 'fork').request(3, 5))).toMatchObject({ status: 200 });
  });
});

describe('the state of a witness', () => {
  test('is kept across restarts: checkpoints and key', async () => {
    const log = new TestLog(origin);
    const first = await startWitness(log);
    await post(first.url, log.request(0, 5));
    await first.stop();
    const second = await startWitness(log, { path: first.path });
    expect(second.key).toEqual(first.key);
    expect(await post(second.url, log.branch(2, 'fork').request(0, 5))).toMatchObject(size(5));
    expect(await post(second.url, log.branch(2, 'fork').request(5, 5))).toMatchObject({ status: 422 });
    expect(await post(second.url, log.request(5, 9))).toMatchObject({ status: 200 });
  });

  test('the key file is readable only by its owner', async () => {
    const { path } = await startWitness(new TestLog(origin));
    expect(statSync(join(path, 'key.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(path).sort()).toEqual(['key.json', 'lock']);
  });

  test('cannot be opened by a second process', async () => {
    const { path } = await startWitness(new TestLog(origin));
    await expect(WitnessState.open(path, undefined)).rejects.toThrow(/in use by another process/);
  });

  test.for([
    ['truncated', (text: string) => text.slice(0, -10)],
    ['empty', () => ''],
    ['of another tree', (text: string) => text.replace('\n5\n', '\n4\n')],
    ['without its own signature', (text: string) => text.split('\n').slice(0, -2).join('\n').concat('\n')],
    ['not UTF-8', () => Buffer.from([0xff])],
  ] as const)('a checkpoint file that is %s prevents the start', async ([, damage]) => {
    const log = new TestLog(origin);
    const { url, path, stop } = await startWitness(log);
    await post(url, log.request(0, 5));
    await stop();
    const file = join(path, `${originHash(origin)}.checkpoint`);
    writeFileSync(file, damage(readFileSync(file, 'utf8')));
    for (let i = 0; i < 2; i++) await expect(WitnessState.open(path, undefined)).rejects.toThrow(/is damaged/);
  });

  test('a missing, damaged or inconsistent key file prevents the start', async () => {
    const log = new TestLog(origin);
    const { url, path, stop } = await startWitness(log);
    await post(url, log.request(0, 5));
    await stop();
    const key = readFileSync(join(path, 'key.json'), 'utf8');
    const another = key.replace(/"x":"(.)/, (_, first) => `"x":"${first === '-' ? 'A' : '-'}`);
    for (const text of ['{', '{}', key.replace('witness"', 'checkpoint"'), another]) {
      writeFileSync(join(path, 'key.json'), text);
      await expect(WitnessState.open(path, undefined)).rejects.toThrow(/key\.json is damaged/);
    }
    rmSync(join(path, 'key.json'));
    // A new key would not be the key of the cosigned checkpoint.
    await expect(WitnessState.open(path, 'witness.example/w1')).rejects.toThrow(/key\.json is missing/);
    expect(readdirSync(path)).not.toContain('key.json');
  });
});

describe('the HTTP server of a witness', () => {
  test('serves the last cosigned checkpoint, signed by the log and the witness', async () => {
    const log = new TestLog(origin);
    const { url, key } = await startWitness(log);
    const address = `${url}/${originHash(origin)}/checkpoint`;
    expect((await fetch(address)).status).toBe(404);
    await post(url, log.request(0, 5));
    await post(url, log.request(5, 8));
    const note = parseNote(await (await fetch(address)).text());
    expect(parseCheckpoint(note.text).size).toBe(8);
    expect(noteSignatureBy(note, log.key.public, verifyNative)).toBeDefined();
    expect(noteSignatureBy(note, key, verifyNative)).toBeDefined();
    const head = await fetch(address, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  test.for([
    ['GET', '/add-checkpoint', 405],
    ['PUT', `/${'0'.repeat(64)}/checkpoint`, 405],
    ['GET', `/${'0'.repeat(64)}/checkpoint`, 404],
    ['GET', `/${'A'.repeat(64)}/checkpoint`, 404],
    ['GET', '/../key.json', 404],
    ['GET', '/', 404],
  ] as const)('responds to %s %s with %i', async ([method, path, status]) => {
    const { url } = await startWitness(new TestLog(origin));
    expect((await fetch(url + path, { method })).status).toBe(status);
  });

  test('closes connections beyond the limit', async () => {
    const { url } = await startWitness(new TestLog(origin));
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: limits.maxWitnessConnections + 5 }, () => connect(Number(port), hostname));
    const closed = new Set<unknown>();
    for (const socket of sockets) socket.on('error', () => undefined).on('close', () => closed.add(socket));
    await vi.waitFor(() => expect(closed.size).toBe(5), 60_000);
    for (const socket of sockets) socket.destroy();
  });

  test('disconnects a client that never completes its request', async () => {
    const { url } = await startWitness(new TestLog(origin), { requestTimeoutMs: 200 });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const ended = new Promise<string>((resolve) => {
      let got = '';
      socket.on('data', (part) => (got += String(part)));
      socket.on('close', () => resolve(got));
      socket.on('error', () => resolve(got));
    });
    socket.write('POST /add-checkpoint HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nold 0\n');
    expect(await ended).toMatch(/^HTTP\/1\.1 408 /);
  });
});
