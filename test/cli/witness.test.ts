import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { login, type Service, startScript, startService, tokenFor } from '../../scripts/service.ts';
import { verifyNative } from '../../src/crypto/ed25519.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';
import { parseCheckpoint } from '../../src/tlog/checkpoint.ts';
import { noteSignatureBy, parseNote, parseVerifierKey, signatureTypes } from '../../src/tlog/note.ts';
import { originHash } from '../../src/witness/witness-state.ts';
import { mayTrace } from '../system/strace.ts';
import { folder, post, TestLog } from '../witness/test-log.ts';
import { candor, command } from './candor.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

const run = (...args: readonly string[]) => command('witness', ...args);

async function startWitness(state: string, ...args: string[]): Promise<Service> {
  const scratch = mkdtempSync(join(tmpdir(), 'candor-witness-'));
  const witness = await startScript('src/cli/main.ts', ['witness', '--state', state, ...args], scratch);
  onTestFinished(async () => {
    await witness.kill().catch(() => undefined);
    rmSync(scratch, { recursive: true, force: true });
  });
  return witness;
}

describe('candor witness', () => {
  test('generates a key once, which --show-key prints, even while the witness runs', async () => {
    const state = join(folder(), 'state');
    expect(await run('--state', state, '--show-key')).toMatchObject({ code: exitCodes.failed });
    const made = await candor('witness', '--state', state, '--name', 'witness.example/w', '--show-key');
    expect(made.code).toBe(0);
    const key = parseVerifierKey(sha256, made.stdout.trim());
    expect([key.name, key.type]).toEqual(['witness.example/w', signatureTypes.cosignature]);

    const log = new TestLog('log.example/a');
    const witness = await startWitness(state, '--log', log.key.vkey);
    expect(witness.output).toContain(made.stdout.trim());
    expect(await run('--state', state, '--show-key')).toMatchObject({ code: 0, stdout: made.stdout });
    const second = await candor('witness', '--state', state, '--log', log.key.vkey);
    expect(second).toMatchObject({ code: exitCodes.unavailable });
    expect(second.stderr).toContain('in use by another process');
    expect(await witness.stop()).toBe(0);
  });

  test('accepts only the logs given on the command line and in a file', async () => {
    const path = folder();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => new TestLog(`log.example/${name}`)) as [TestLog, TestLog, TestLog];
    const file = join(path, 'logs');
    writeFileSync(file, `# logs\n\n  ${b.key.vkey}  \n`);
    const { url, stop } = await startWitness(join(path, 'state'), '--name', 'w', '--log', a.key.vkey, '--logs', file);
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const statuses = [];
    for (const log of [a, b, c]) statuses.push((await post(url, log.request(0, 3))).status);
    expect(statuses).toEqual([200, 200, 404]);
    await stop();
  });

  const known = ['--log', new TestLog('a').key.vkey];
  test.for([
    ['an invalid key', ['--log', 'x'], exitCodes.usage, 'not a valid verifier key'],
    ['a missing log', [], exitCodes.usage, 'no log given'],
    ['an address without a port', [...known, '--listen', 'nowhere'], exitCodes.usage, 'a host and a port'],
    ['a port above 65535', [...known, '--listen', '127.0.0.1:65536'], exitCodes.usage, 'a host and a port'],
    ['a missing file', ['--logs', '/nonexistent'], exitCodes.failed, 'ENOENT'],
    ['an invalid name', [...known, '--name', 'a b'], exitCodes.failed, 'valid key name'],
  ] as const)('exits with an error for %s', async ([, args, code, says]) => {
    const ended = await run('--state', join(folder(), 'state'), '--name', 'w', ...args);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(says);
  });
});

describe('kill -9 at any moment', () => {
  test('never makes cosignatures contradict each other', async () => {
    const state = join(folder(), 'state');
    const origin = 'log.example/killed';
    let base = new TestLog(origin);
    const sent = [{ log: base, size: 0 }];
    const cosigned: { log: TestLog; size: number }[] = [];
    const rounds = 4;
    for (let round = 0; round <= rounds; round++) {
      const witness = await startWitness(state, '--name', 'w', '--log', base.key.vkey);
      const answer = await fetch(`${witness.url}/${originHash(origin)}/checkpoint`);
      const text = answer.status === 200 ? parseNote(await answer.text()).text : base.text(0);
      const kept = sent.find((fork) => fork.log.text(fork.size) === text);
      if (kept === undefined) throw new Error('it keeps what nobody sent');
      base = kept.log;
      const { size } = kept;
      for (const old of cosigned) expect(base.root(old.size)).toEqual(old.log.root(old.size));
      if (round === rounds) break;

      const asked = Array.from({ length: 8 }, async (_, k) => {
        const fork = { log: base.branch(size, `${round}/${k}`), size: size + 1 + (k % 3) };
        sent.push(fork);
        const reply = await post(witness.url, fork.log.request(size, fork.size)).catch(() => undefined);
        if (reply?.status === 200) cosigned.push(fork);
      });
      // Kills the witness after all responses, after one response, and before any response.
      if (round % 3 < 2) await Promise.race(asked);
      if (round % 3 < 1) await Promise.all(asked);
      await witness.kill();
      await Promise.all(asked);
    }
    expect(cosigned.length).toBeGreaterThan(1);
  });
});

describe.skipIf(!mayTrace())('flush order', () => {
  test('the state file, its rename and its folder are flushed before the first byte of the response', async () => {
    const path = folder();
    const trace = join(path, 'trace');
    const log = new TestLog('log.example/traced');
    const args = ['witness', '--state', join(path, 'state'), '--name', 'w', '--log', log.key.vkey];
    const options = ['-f', '-y', '-s', '64', '-o', trace, '-e', 'trace=fsync,rename,renameat,renameat2,write,writev'];
    const child = spawn('strace', [...options, '--', process.execPath, main, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (text) => {
      output += String(text);
    });
    while (!output.includes('"listening"')) await once(child.stdout, 'data');
    const { url, pid } = JSON.parse(output.split('\n').find((line) => line.includes('"listening"')) ?? '') as {
      url: string;
      pid: number;
    };
    expect(await post(url, log.request(0, 3))).toMatchObject({ status: 200 });
    process.kill(pid, 'SIGTERM');
    await once(child, 'close');

    const lines = readFileSync(trace, 'utf8').split('\n');
    const at = (pattern: RegExp) => lines.findIndex((line) => pattern.test(line));
    const hash = originHash(log.origin);
    const order = [
      at(new RegExp(`fsync\\(\\d+<[^>]*${hash}\\.checkpoint\\.new>`)),
      at(new RegExp(`rename.*${hash}\\.checkpoint"`)),
      lines.findIndex((line, n) => n > at(/rename.*\.checkpoint"/) && /fsync\(\d+<[^>]*\/state>/.test(line)),
      at(/writev?\(.*HTTP\/1\.1 200/),
    ];
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order[0]).toBeGreaterThan(-1);
    // strace prints a call on two lines if another thread makes a call before it returns. Each flush must succeed
    // before the response.
    const flushes = lines.slice(order[0], order[3]).filter((line) => /fsync(\(.*| resumed.*)= 0$/.test(line));
    expect(flushes).toHaveLength(2);
  });
});

describe('a service and its witnesses, each in its own process', () => {
  test('the served checkpoint is cosigned by two of three witnesses while the third is down, even after restarts', async () => {
    const path = folder();
    const env = { CANDOR_LEDGER_ORIGIN: 'log.example/served', CANDOR_WITNESS_INTERVAL_MS: '100' };
    const dataDir = join(path, 'data');
    // The log's key is created at its first start.
    const ledger = await openLedger({ dataDir, origin: env.CANDOR_LEDGER_ORIGIN });
    const { checkpoint_vkey: vkey } = await ledger.status();
    await ledger.close();

    const states = [0, 1].map((n) => join(path, `witness-${n}`));
    const start = (n: number, ...args: string[]) =>
      startWitness(states[n]!, '--name', `witness.example/${n}`, '--log', vkey, ...args);
    const witnesses = [await start(0), await start(1)];
    const keys = witnesses.map(({ output }) => parseVerifierKey(sha256, output.find((line) => line.includes('+'))!));
    const policy = join(path, 'policy');
    const lines = witnesses.map(
      ({ url, output }, n) => `witness w${n} ${output.find((line) => line.includes('+'))} ${url}`,
    );
    const down = await run('--state', join(path, 'witness-2'), '--name', 'witness.example/2', '--show-key');
    lines.push(`witness w2 ${down.stdout.trim()} http://127.0.0.1:1`, 'group g 2 w0 w1 w2', 'quorum g', '');
    writeFileSync(policy, lines.join('\n'));

    let service = await startService({ dataDir, env: { ...env, CANDOR_WITNESS_POLICY: policy } });
    try {
      await tokenFor(service, 'viewer');
      const token = await login(service);
      const { size, status } = await settled(service, token);
      expect(await cosignedBy(service)).toEqual({ size, by: keys.map(({ name }) => name) });
      expect(status.witnesses).toMatchObject({ quorum: true, published_size: size, candidate_size: size });
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      expect(metrics).toContain(`candor_checkpoint_entries ${size}`);
      expect(metrics).toContain('candor_checkpoint_quorum 1');
      expect(metrics).toMatch(/candor_witness_cosignatures_total\{witness="w0"\} [1-9]/);
      expect(metrics).toMatch(/candor_witness_failures_total\{witness="w2",kind="unreachable"\} [1-9]/);
      expect(metrics).toContain(`candor_witness_entries{witness="w1"} ${size}`);

      for (const witness of witnesses) await witness.kill();
      await service.stop();
      service = await startService({ dataDir, env: { ...env, CANDOR_WITNESS_POLICY: policy } });
      expect(await cosignedBy(service)).toEqual({ size, by: keys.map(({ name }) => name) });

      for (const [n, { url }] of witnesses.entries()) await start(n, '--listen', new URL(url).host);
      await tokenFor(service, 'auditor');
      const grown = await settled(service, await login(service));
      expect(grown.size).toBeGreaterThan(size);
      expect((await cosignedBy(service)).size).toBe(grown.size);
    } finally {
      await service.stop();
    }

    async function cosignedBy({ url }: Service) {
      const note = parseNote(await (await fetch(`${url}/checkpoint`)).text());
      expect(noteSignatureBy(note, parseVerifierKey(sha256, vkey), verifyNative)).toBeDefined();
      const by = keys.filter((key) => noteSignatureBy(note, key, verifyNative) !== undefined);
      return { size: parseCheckpoint(note.text).size, by: by.map(({ name }) => name) };
    }
  });

  test('the service does not start with a policy that cannot be met or read, and reports the reason', async () => {
    const path = folder();
    const policy = join(path, 'policy');
    for (const [text, says] of [
      ['quorum a\n', 'line 1: no earlier line defines "a"'],
      [
        `witness a ${(await run('--state', join(path, 'w'), '--name', 'w', '--show-key')).stdout.trim()}\nquorum a\n`,
        '0 of its 1 witnesses',
      ],
      [undefined, 'cannot be read'],
    ] as const) {
      if (text === undefined) rmSync(policy);
      else writeFileSync(policy, text);
      const env = { CANDOR_WITNESS_POLICY: policy };
      await expect(startService({ dataDir: join(path, 'data'), env })).rejects.toThrow(says);
    }
  });
});

interface StatusAnswer {
  readonly ledger: { readonly size: number };
  readonly outbox: { readonly rows: number };
  readonly witnesses?: { readonly published_size?: number; readonly witnesses: readonly { size?: number }[] };
}

/**
 * Returns the size of a log with no pending appends, once it is published and the first two witnesses are
 * running.
 */
function settled(service: Service, token: string): Promise<{ size: number; status: StatusAnswer }> {
  return vi.waitFor(
    async () => {
      const status = await statusOf(service, token);
      const { size } = status.ledger;
      const cosigned = status.witnesses?.witnesses.slice(0, 2).map((witness) => witness.size);
      expect([status.outbox.rows, status.witnesses?.published_size, cosigned]).toEqual([0, size, [size, size]]);
      return { size, status };
    },
    { timeout: 60_000, interval: 100 },
  );
}

async function statusOf({ url }: Service, token: string): Promise<StatusAnswer> {
  const answer = await fetch(`${url}/api/v1/status`, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { data: { attributes: StatusAnswer } }).data.attributes;
}
