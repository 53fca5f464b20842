/**
 * Verifies our checkpoints, tiles and proofs with golang.org/x/mod/sumdb, and the notes of sumdb with our
 * code. Needs Go and that package at Debian's paths (golang-go, golang-golang-x-mod-dev);
 * scripts/with-system-tools.sh provides both.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startScript } from '../../scripts/service.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { formatCheckpoint, parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import {
  formatNote,
  formatVerifierKey,
  noteSignatureBy,
  parseNote,
  parseVerifierKey,
  signatureTypes,
  verifierKey,
} from '../../src/tlog/note.ts';
import { entriesPath, tilePath } from '../../src/tlog/tile.ts';
import { Cosigner } from '../../src/witness/cosigner.ts';
import { parsePolicy } from '../../src/witness/parse-policy.ts';
import { command } from '../cli/candor.ts';
import { openService, type Service } from '../http/service.ts';
import { entries } from '../ledger/fixture-entry.ts';
import { faultOf, flip } from '../tlog/faults.ts';
import { cosigner, noteSigner, verify } from '../tlog/note-signer.ts';
import { sha256 } from '../tlog/oracle.ts';
import { tilesOf } from '../tlog/tiles-of.ts';

const packages = '/usr/share/gocode';

/** Returns the reason why this cannot be tested on the machine, if any. */
function findMissing(): string | undefined {
  if (spawnSync('go', ['version']).status !== 0) return 'go';
  return existsSync(join(packages, 'src/golang.org/x/mod/sumdb')) ? undefined : `${packages}/src/golang.org/x/mod`;
}

const missing = findMissing();
if (missing !== undefined) console.warn(`sumdb is skipped: there is no ${missing}`);

test.runIf(process.env.CI === 'true')('CI has Go, installed by scripts/with-system-tools.sh', () => {
  expect(missing).toBeUndefined();
});

interface Report {
  readonly size: number;
  readonly root: string;
  readonly witnessed: boolean;
  readonly tiles: number;
  readonly entries: number;
  readonly inclusion: Readonly<Record<string, string[]>>;
  readonly consistency: Readonly<Record<string, string[]>>;
}

const sizes = [1, 255, 256, 257, 700, 70_000];
const witness = cosigner('witness.example/w1', 1_763_700_000);

describe.skipIf(missing !== undefined)('sumdb', () => {
  let folder: string;
  let program: string;
  let service: Service;
  /** Publishes the checkpoints of the service, if a test has started it. */
  let cosigning: Cosigner | undefined;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'candor-interop-'));
    program = join(folder, 'verify');
    const source = fileURLToPath(new URL('verify.go', import.meta.url));
    const env = { ...process.env, GO111MODULE: 'off', GOPATH: packages, GOFLAGS: '' };
    execFileSync('go', ['build', '-o', program, source], { env });
    service = await openService(
      { CANDOR_TRANSPARENCY_PUBLIC_ENTRIES: 'true' },
      { checkpoint: () => (cosigning ?? service.ledger).checkpoint() },
    );
  });

  afterAll(async () => {
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns sumdb's result for the log at a URL or in a folder. */
  async function check(
    where: string,
    key: string,
    firsts: readonly number[],
    leaves: readonly number[],
    witnessKey = formatVerifierKey(witness.key),
  ) {
    const args = ['check', where, key, witnessKey, firsts.join(), leaves.join()];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, [code]] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      once(child, 'close') as Promise<[number]>,
    ]);
    return { code, stderr, report: code === 0 ? (JSON.parse(stdout) as Report) : undefined };
  }

  /** Returns the verifier key of the served log, from its key set. */
  async function logKey(): Promise<string> {
    const jwk = (await service.ledger.keys()).find(({ svc_purpose }) => svc_purpose === 'checkpoint')!;
    const publicKey = new Uint8Array(Buffer.from(String(jwk.x), 'base64url'));
    return formatVerifierKey(verifierKey(sha256, String(jwk.svc_origin), signatureTypes.ed25519, publicKey));
  }

  test('gets the same key from the key set and from the status', async () => {
    expect((await service.ledger.status()).checkpoint_vkey).toBe(await logKey());
  });

  test('accepts checkpoint, tiles, entries and proofs of the served log at each size up to 70,000', async () => {
    for (const [i, size] of sizes.entries()) {
      const { ledger, url } = service;
      await grow(ledger, sizes[i - 1] ?? 0, size);
      const firsts = [...sizes, 2, 100, 512, 65_536, 69_999].filter((first) => first <= size);
      const leaves = [0, 1, 254, 255, 256, 511, 699, 65_535, 65_536, 69_887, 69_888, 69_999];
      const known = leaves.filter((leaf) => leaf < size);
      const { stderr, report } = await check(url, await logKey(), firsts, known);
      expect(stderr).toBe('');
      const { root_hash: root } = await ledger.head();
      expect(report).toMatchObject({ size, root, entries: size, tiles: tilesOf(size).length });
      for (const leaf of known) {
        const { audit_path } = await ledger.inclusion({ leaf_index: leaf }, size);
        expect(report!.inclusion[leaf]).toEqual(audit_path);
      }
      for (const first of firsts.filter((first) => first < size)) {
        expect(report!.consistency[first]).toEqual((await ledger.consistency(first, size)).audit_path);
      }
    }
  });

  test('accepts a folder written by candor mirror', async () => {
    const mirror = join(folder, 'mirror');
    const { code, json } = await command('mirror', service.url, '--to', mirror, '--json');
    expect([code, json]).toMatchObject([0, { tree_size: 70_000, entries: true }]);
    const { stderr, report } = await check(mirror, await logKey(), [1, 65_536], [0, 69_999]);
    expect(stderr).toBe('');
    expect(report).toMatchObject({ size: 70_000, root: json.root_hash, entries: 70_000 });
  });

  test('verifies the cosignature of candor witness on the served checkpoint', async () => {
    const size = await grownTo(1);
    const { ledger, url } = service;
    const key = await logKey();
    const args = ['witness', '--state', join(folder, 'witness'), '--name', 'witness.example/w2', '--log', key];
    const started = await startScript('src/cli/main.ts', args, join(folder, 'scratch'));
    onTestFinished(() => started.kill());
    const witnessKey = started.output.find((line) => line.startsWith('witness.example/w2+'))!;
    const policy = `witness w ${witnessKey} ${started.url}\nquorum w\n`;
    cosigning = await Cosigner.start({
      ledger,
      policy: parsePolicy(sha256, new TextEncoder().encode(policy)),
      waitMs: 60_000,
      intervalMs: 20,
      fail: 'closed',
      log: service.services.log,
      now: Date.now,
    });
    onTestFinished(async () => {
      await cosigning?.close();
      cosigning = undefined;
    });
    await vi.waitFor(() => cosigning!.checkpoint(), { timeout: 60_000 });
    const { stderr, report } = await check(url, key, [1], [0], witnessKey);
    expect(stderr).toBe('');
    expect(report).toMatchObject({ size, witnessed: true });
  });

  describe('with a copy of that log', () => {
    const [log, origin] = [noteSigner('log.example/copy'), 'log.example/copy'];
    const vkey = formatVerifierKey(log.key);
    let copy: string;
    let text: string;

    beforeAll(async () => {
      copy = join(folder, 'copy');
      const size = sizes.at(-1)!;
      const served = parseCheckpoint(parseNote(await (await fetchPath('checkpoint')).text()).text);
      expect(served.size).toBe(size);
      text = formatCheckpoint({ ...served, origin });
      for (const tile of tilesOf(size)) {
        await download(tilePath(tile));
        if (tile.level === 0) await download(entriesPath(tile.index, tile.width));
      }
    });

    const fetchPath = (path: string) => fetch(`${service.url}/${path}`);
    const download = async (path: string) => write(path, new Uint8Array(await (await fetchPath(path)).arrayBuffer()));
    const putCheckpoint = (signatures = [log.sign(text)], body = text) =>
      write('checkpoint', formatNote({ text: body, signatures }));
    const codeOf = async (key = vkey) => (await check(copy, key, [1], [0])).code;

    function write(path: string, content: Uint8Array | string): void {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      writeFileSync(join(copy, path), content);
    }

    test('verifies a cosignature, and rejects a cosignature of another checkpoint', async () => {
      putCheckpoint([log.sign(text), witness.sign(text)]);
      expect((await check(copy, vkey, [1], [0])).report).toMatchObject({ witnessed: true });
      putCheckpoint();
      expect((await check(copy, vkey, [1], [0])).report).toMatchObject({ witnessed: false });
      putCheckpoint([log.sign(text), witness.sign(text.replace('70000', '69999'))]);
      expect(await codeOf()).toBe(1);
    });

    test('rejects a flipped bit in a tile of each level and in a bundle', async () => {
      putCheckpoint();
      expect(await codeOf()).toBe(0);
      for (const path of ['tile/0/273.p/112', 'tile/1/000', 'tile/2/000.p/1', 'tile/entries/100']) {
        const original = new Uint8Array(readFileSync(join(copy, path)));
        write(path, flip(original, 1000));
        expect(await codeOf(), path).toBe(1);
        write(path, original);
      }
      expect(await codeOf()).toBe(0);
    });

    test('rejects a checkpoint with another size, signature or key', async () => {
      putCheckpoint([log.sign(text)], text.replace('70000', '69999'));
      expect(await codeOf()).toBe(1);
      const signed = log.sign(text);
      putCheckpoint([{ ...signed, signature: flip(signed.signature, 3) }]);
      expect(await codeOf()).toBe(1);
      putCheckpoint();
      expect(await codeOf(formatVerifierKey(noteSigner(origin).key))).toBe(1);
      expect(await codeOf()).toBe(0);
    });
  });

  test('verifies the tlog-proof of a bundle only for its entry', async () => {
    const size = await grownTo(700);
    const files = [join(folder, 'entry.tlog-proof'), join(folder, 'entry.json')] as const;
    const { leaf, checkpoint } = await service.ledger.bundle({ leaf_index: 650 }, await service.ledger.checkpoint());
    writeFileSync(files[0], checkpoint!.tlog_proof);
    writeFileSync(files[1], leaf.canonical);
    const key = await logKey();
    const run = () => spawnSync(program, ['proof', ...files, key], { encoding: 'utf8' });
    expect(JSON.parse(run().stdout)).toEqual({ index: 650, size });
    writeFileSync(files[1], flip(leaf.canonical, 5));
    expect(run()).toMatchObject({ status: 1, stdout: '' });
    writeFileSync(files[1], leaf.canonical);
    writeFileSync(files[0], checkpoint!.tlog_proof.replace('index 650', 'index 651'));
    expect(run()).toMatchObject({ status: 1, stdout: '' });
  });

  /** Grows the log to at least this size; returns its size. */
  async function grownTo(least: number): Promise<number> {
    const { size } = await service.ledger.status();
    await grow(service.ledger, size, least);
    return Math.max(size, least);
  }

  test('signs notes that our code verifies, and changed notes fail', () => {
    const text = 'Größe\n\nzwei Zeilen — und mehr\n';
    const output = execFileSync(program, ['sign', 'log.example/go'], { input: text, encoding: 'utf8' });
    const { vkey, note } = JSON.parse(output) as { vkey: string; note: string };
    const key = parseVerifierKey(sha256, vkey);
    expect(formatVerifierKey(key)).toBe(vkey);
    const parsed = parseNote(note);
    expect(parsed.text).toBe(text);
    expect(formatNote(parsed)).toBe(note);
    expect(noteSignatureBy(parsed, key, verify)).toBe(parsed.signatures[0]);
    expect(faultOf(() => noteSignatureBy({ ...parsed, text: `${text}more\n` }, key, verify))).toBe(
      'bad_note_signature',
    );
  });
});

/** Appends entries [from, to), a thousand at a time. */
async function grow(ledger: Pick<Ledger, 'append'>, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += 1000) {
    await ledger.append(entries(first, Math.min(to, first + 1000)));
  }
}
