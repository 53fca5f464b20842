import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { comparePins } from '../../src/cli/compare-pins.ts';
import { output } from '../../src/cli/output.ts';
import { savePin } from '../../src/cli/pin-file.ts';
import { verifyFile } from '../../src/cli/verify-offline.ts';
import { parseEvidence } from '../../src/client/evidence.ts';
import { AuditFault } from '../../src/client/fault.ts';
import { httpLog } from '../../src/client/log-source.ts';
import { judge } from '../../src/client/verdict.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { limits } from '../../src/limits.ts';
import { bindsElsewhere } from '../../src/tlog/binding.ts';
import { formatCheckpoint } from '../../src/tlog/checkpoint.ts';
import { parseNote, parseVerifierKey } from '../../src/tlog/note.ts';
import { consistencyPlan } from '../../src/tlog/proof.ts';
import { foldRoot, type Hash, leafHash, nodeHash, rootPlan } from '../../src/tlog/tree.ts';
import { formatAddCheckpoint } from '../../src/witness/add-checkpoint.ts';
import { findFork } from '../../src/witness/witness.ts';
import { ServedLog } from '../client/served-log.ts';
import { Oracle } from '../tlog/oracle.ts';
import { pinOf } from '../verdicts/parties.ts';
import { startWitness } from './started-witness.ts';
import { keyPair, post, signNote, TestLog } from './test-log.ts';

const origin = 'example.org/log';
const filesIn = (path: string) =>
  readdirSync(path)
    .filter((name) => name.endsWith('.evidence.json'))
    .sort();

afterEach(() => vi.restoreAllMocks());

/** Evaluates a file as `candor verify` does, and returns the reason. */
async function convicts(file: string): Promise<string> {
  const evidence = parseEvidence(readFileSync(file, 'utf8'));
  if (evidence instanceof AuditFault) throw evidence;
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  expect(await verifyFile(file, {}, output(true))).toBe(5);
  written.mockRestore();
  const verdict = judge(evidence);
  expect(verdict.convicts).toBe(true);
  return verdict.reason;
}

describe('evidence of a witness', () => {
  test('proves misbehaviour by two roots for one size', async () => {
    const log = new TestLog(origin);
    const { url, path, contradictions } = await startWitness(log);
    await post(url, log.request(0, 5));
    expect((await post(url, log.branch(3, 'b').request(0, 5))).status).toBe(409);
    const [found] = contradictions;
    expect(found!.evidence).toBe(join(path, filesIn(path)[0]!));
    expect(await convicts(found!.evidence!)).toContain('two roots are signed for size 5');
  });

  test('proves misbehaviour by a later tree that extends a different tree', async () => {
    const log = new TestLog(origin);
    const fork = log.branch(1, 'b');
    for (let old = 2; old <= 9; old++) {
      const { url, path } = await startWitness(log);
      await post(url, log.request(0, old));
      expect((await post(url, fork.request(old, 13))).status).toBe(422);
      if (isPowerOfTwo(old)) {
        expect(filesIn(path)).toEqual([]);
        const proof = [fork.root(old), ...fork.proof(old, 13)];
        const complete = formatAddCheckpoint({ oldSize: old, proof, note: fork.note(13) });
        expect((await post(url, complete)).status).toBe(422);
      }
      const [file, ...others] = filesIn(path);
      expect(others).toEqual([]);
      expect(await convicts(join(path, file!))).toContain(`(size 13) has the root`);
    }
  });

  test('is stored for trees of up to 2^53 − 1 leaves, from small requests', async () => {
    const key = keyPair(origin);
    const [first, second] = [2 ** 52 - 3, 2 ** 53 - 1];
    const leaf = (text: string) => leafHash(sha256, new TextEncoder().encode(text));
    const [kept, forked] = [giant(first, second, leaf('a')), giant(first, second, leaf('b'))];
    const note = (size: number, root: Hash) => signNote(formatCheckpoint({ origin, size, root, extensions: [] }), key);
    const { url, contradictions } = await startWitness({ key });
    const begin = formatAddCheckpoint({ oldSize: 0, proof: [], note: note(first, kept.first) });
    expect((await post(url, begin)).status).toBe(200);
    const later = { oldSize: first, proof: forked.proof, note: note(second, forked.second) };
    expect((await post(url, formatAddCheckpoint(later))).status).toBe(422);
    expect(await convicts(contradictions[0]!.evidence!)).toContain(`size ${second}`);
    const honest = { oldSize: first, proof: kept.proof, note: note(second, kept.second) };
    expect((await post(url, formatAddCheckpoint(honest))).status).toBe(200);
  });

  test("is not stored for a wrong proof, a smaller tree, another log's key, or an unsigned checkpoint", async () => {
    const log = new TestLog(origin);
    const { url, path, contradictions } = await startWitness(log);
    await post(url, log.request(0, 7));
    const wrong = log.proof(7, 12).map((hash, i) => (i === 1 ? new Uint8Array(32) : hash));
    const requests = [
      formatAddCheckpoint({ oldSize: 7, proof: wrong, note: log.note(12) }),
      formatAddCheckpoint({ oldSize: 7, proof: [], note: log.note(12) }),
      log.branch(2, 'b').request(0, 5),
      new TestLog(origin, keyPair(origin)).branch(2, 'b').request(7, 12),
      formatAddCheckpoint({ oldSize: 7, proof: [], note: `${log.branch(2, 'b').text(7)}\n— x AAAAAAAA\n` }),
    ];
    for (const request of requests) expect((await post(url, request)).status).toBeGreaterThanOrEqual(400);
    expect(filesIn(path)).toEqual([]);
    expect(contradictions).toEqual([]);
    expect((await post(url, log.request(7, 12))).status).toBe(200);
  });

  test('is stored once for each pair of checkpoints, up to a maximum number of files, across restarts', async () => {
    const log = new TestLog(origin);
    const first = await startWitness(log);
    await post(first.url, log.request(0, 5));
    const forks = Array.from({ length: limits.maxWitnessEvidence + 3 }, (_, n) => log.branch(3, `b${n}`));
    const send = async (url: string) => {
      for (const fork of forks) expect((await post(url, fork.request(5, 5))).status).toBe(422);
    };
    await send(first.url);
    const kept = filesIn(first.path);
    expect(kept).toHaveLength(limits.maxWitnessEvidence);
    const texts = kept.map((file) => readFileSync(join(first.path, file), 'utf8'));
    await first.stop();
    const { path } = first;
    const again = await startWitness(log, { path, now: { ms: 1_800_000_000_000 } });
    await send(again.url);
    // A newer cosignature of the same checkpoint is not a new pair.
    await post(again.url, log.request(5, 5));
    await send(again.url);
    expect(filesIn(path)).toEqual(kept);
    expect(kept.map((file) => readFileSync(join(path, file), 'utf8'))).toEqual(texts);
    expect(again.contradictions.filter(({ evidence }) => evidence === undefined)).toHaveLength(6);
  });

  test('proves nothing with an altered root, an altered proof, or other keys', async () => {
    const log = new TestLog(origin);
    const { url, contradictions } = await startWitness(log);
    await post(url, log.request(0, 5));
    await post(url, log.branch(1, 'b').request(5, 13));
    const text = readFileSync(contradictions[0]!.evidence!, 'utf8');
    const json = JSON.parse(text);
    const other = log.branch(4, 'c');
    const altered = [
      { ...json, checkpoints: [json.checkpoints[0], json.checkpoints[0]] },
      { ...json, checkpoints: [json.checkpoints[0], log.note(13)] },
      { ...json, proof: { ...json.proof, first_root: Buffer.from(other.root(5)).toString('hex') } },
      { ...json, proof: undefined },
      { ...json, pinned_keys: [] },
      {
        ...json,
        pinned_keys: [{ ...json.keys[0], x: Buffer.from(keyPair(origin).public.publicKey).toString('base64url') }],
      },
    ];
    for (const one of altered) {
      const evidence = parseEvidence(JSON.stringify(one));
      expect(evidence instanceof AuditFault ? 'malformed' : judge(evidence).convicts).toBe(false);
    }
    for (const checkpoints of [[], [1, 2], [json.checkpoints[0]], 'x'])
      expect(parseEvidence(JSON.stringify({ ...json, checkpoints }))).toMatchObject({
        code: 'MALFORMED_EVIDENCE',
      });
    expect(parseNote(json.checkpoints[1]).text).toBe(log.branch(1, 'b').text(13));
  });
});

describe('a rejected checkpoint', () => {
  const rejectedIn = (path: string) =>
    readdirSync(path)
      .filter((name) => name.endsWith('.rejected.note'))
      .sort();

  test.each([
    ['an empty', (): Uint8Array[] => []],
    ['a random', () => [new Uint8Array(32).fill(7), new Uint8Array(32).fill(8)]],
  ])(
    'from a forked log with %s proof is stored, and proves misbehaviour together with a pin of the same size',
    async (_, proof) => {
      const log = await ServedLog.start();
      onTestFinished(() => log.close());
      const source = httpLog(log.url);
      await log.append(300);
      const vkey = parseVerifierKey(sha256, (await log.ledger.status()).checkpoint_vkey);
      const { url, path, contradictions, state } = await startWitness({ key: { public: vkey } });
      const begin = formatAddCheckpoint({ oldSize: 0, proof: [], note: await log.ledger.checkpoint() });
      expect((await post(url, begin)).status).toBe(200);
      const copy = await log.snapshot();
      await log.append(10);
      const pinFile = join(path, 'auditor.pin');
      await savePin(pinFile, await pinOf(source), undefined);
      log.now += 1000;
      await log.restore(copy);
      await log.append(10);
      const note = await log.ledger.checkpoint();
      expect((await post(url, formatAddCheckpoint({ oldSize: 300, proof: proof(), note }))).status).toBe(422);
      expect([filesIn(path), contradictions]).toEqual([[], []]);
      const [file, ...others] = rejectedIn(path);
      expect(others).toEqual([]);
      expect(state.rejected).toEqual([join(path, file!)]);
      const report = await comparePins([pinFile, join(path, file!)], undefined, Date.now());
      expect(report).toMatchObject({ exit: 5, fields: { evidence: expect.any(String) } });
      expect(await convicts(String(report.fields.evidence))).toContain('size 310');
    },
  );

  test('is stored once, even across restarts, until it is cosigned; beyond the limit, only the oldest 8 and the newest 8 are kept', async () => {
    const log = new TestLog(origin);
    const now = { ms: 1_700_000_000_000 };
    const first = await startWitness(log, { now });
    await post(first.url, log.request(0, 5));
    const early = formatAddCheckpoint({ oldSize: 0, proof: [], note: log.note(9) });
    expect((await post(first.url, early)).status).toBe(409);
    expect((await post(first.url, early)).status).toBe(409);
    expect(rejectedIn(first.path)).toHaveLength(1);
    const kept: string[] = [];
    for (let n = 0; n < 2 * limits.maxWitnessRejected; n++) {
      now.ms += 1000;
      const empty = { oldSize: 5, proof: [], note: log.branch(3, `b${n}`).note(13) };
      expect((await post(first.url, formatAddCheckpoint(empty))).status).toBe(422);
      kept.push(empty.note);
    }
    const files = rejectedIn(first.path);
    expect(files).toHaveLength(limits.maxWitnessRejected);
    const notes = files.map((file) => readFileSync(join(first.path, file), 'utf8'));
    expect(notes).toEqual([log.note(9), ...kept.slice(0, 7), ...kept.slice(-8)]);
    await first.stop();
    const again = await startWitness(log, { path: first.path, now });
    const cosigned = log.request(5, 9);
    expect((await post(again.url, cosigned)).status).toBe(200);
    expect(rejectedIn(first.path)).toEqual(files.slice(1));
    expect((await post(again.url, cosigned)).status).toBe(409);
    expect(rejectedIn(first.path)).toEqual(files.slice(1));
  });
});

describe('a fork of every size', () => {
  const most = 70;
  const leaves = (name: string) => Array.from({ length: most }, (_, i) => new TextEncoder().encode(`${name} ${i}`));
  const [a, b] = [new Oracle(leaves('a')), new Oracle(leaves('b'))];
  const sized = (tree: Oracle, size: number) => ({ size, root: tree.root(0, size) });

  test('is found from the proof of the later tree, which shows that this tree extends a different earlier tree', () => {
    for (let first = 1; first <= most; first++)
      for (let second = 1; second <= most; second++) {
        const kept = sized(a, first);
        const fork = findFork(kept, sized(b, second), first < second ? complete(b, first, second) : []);
        const about = `${first} to ${second}`;
        if (first > second) expect(fork, about).toBeUndefined();
        else if (first === second) expect(fork, about).toMatchObject({ message: expect.any(String) });
        else expect(bindsElsewhere(sha256, fork!.binding!, kept, sized(b, second)), about).toBe(true);
      }
  });

  test('is not found in an honest log, nor in a proof with one flipped bit', () => {
    for (let first = 1; first <= most; first++)
      for (let second = first + 1; second <= most; second++) {
        const proof = complete(a, first, second);
        const flipped = proof.map((hash, i) => (i === 0 ? hash.with(5, hash[5]! ^ 1) : hash));
        for (const one of [proof, flipped, proof.slice(1), [], [...proof, proof[0]!]])
          expect(findFork(sized(a, first), sized(a, second), one), `${first} to ${second}`).toBeUndefined();
      }
  });
});

const isPowerOfTwo = (size: number): boolean => Number.isInteger(Math.log2(size));

/** Returns a proof that includes the root of the first size: for a power of two, the log omits this root. */
function complete(tree: Oracle, first: number, second: number): Uint8Array[] {
  const proof = tree.proof(first, 0, second);
  return isPowerOfTwo(first) ? [tree.root(0, first), ...proof] : proof;
}

/**
 * Returns roots of two sizes and the proof between them, for a tree whose complete subtrees left of `first`
 * are `hash`.
 */
function giant(first: number, second: number, hash: Hash): { first: Hash; second: Hash; proof: Hash[] } {
  const node = ({ level, index }: { level: number; index: number }): Hash =>
    (index + 1) * 2 ** level <= first ? hash : leafHash(sha256, new TextEncoder().encode(`${level}/${index}`));
  const proof = consistencyPlan(first, second).map((step) => foldRight(step.map(node)));
  const left = rootPlan(first).map(node);
  const firstRoot = foldRoot(sha256, first, left);
  // The second root is computed from the same nodes, as in a verifier (RFC 9162 section 2.1.4.2).
  return { first: firstRoot, second: secondRootOf(first, second, proof), proof };
}

const foldRight = (hashes: Hash[]): Hash => hashes.reduceRight((right, left) => nodeHash(sha256, left, right));

function secondRootOf(first: number, second: number, path: readonly Hash[]): Hash {
  let [fn, sn] = [BigInt(first) - 1n, BigInt(second) - 1n];
  const rest = [...path];
  while (fn % 2n === 1n) [fn, sn] = [fn / 2n, sn / 2n];
  let root = rest.shift()!;
  for (const hash of rest) {
    if (fn % 2n === 1n || fn === sn) {
      root = nodeHash(sha256, hash, root);
      while (fn % 2n === 0n && fn !== 0n) [fn, sn] = [fn / 2n, sn / 2n];
    } else root = nodeHash(sha256, root, hash);
    [fn, sn] = [fn / 2n, sn / 2n];
  }
  return root;
}
