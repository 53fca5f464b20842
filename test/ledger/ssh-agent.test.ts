/** Keys in an ssh-agent: the log signs with these keys, and waits while the keys are unavailable. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { beginNewLog } from '../../src/ledger/check/begin-new-log.ts';
import { KeyRing } from '../../src/ledger/keys/key-ring.ts';
import { openAgent } from '../../src/ledger/keys/open-agent.ts';
import { startLife } from '../../src/ledger/keys/start-life.ts';
import type { LedgerKeyPurpose } from '../../src/ledger/ledger.ts';
import { lifeStartOf } from '../../src/ledger/lives/continue-copy.ts';
import type { DurableLedger, LedgerOptions } from '../../src/ledger/open.ts';
import { limits } from '../../src/limits.ts';
import { damagingProxy, purposes, TestAgent, withoutAgent } from '../ssh-agent/agent.ts';
import { damages } from '../ssh-agent/damaging-proxy.ts';
import { keyEntries } from './audited.ts';
import { codeOf, entries, entry, folder, open } from './fixture.ts';
import { reverify } from './reverify.ts';

type File = Record<string, unknown>;
const filesOf = (dataDir: string): File[] =>
  readdirSync(join(dataDir, 'keys')).map((name) => JSON.parse(readFileSync(join(dataDir, 'keys', name), 'utf8')));
const activeFile = (dataDir: string, purpose: string) =>
  filesOf(dataDir).find((file) => file.svc_purpose === purpose && file.svc_state === 'active')!;

function options(socket: string, more: Partial<NonNullable<LedgerOptions['agent']>> = {}) {
  return { agent: { socket, purposes, keys: [], ...more } };
}

async function opened(): Promise<{ dataDir: string; agent: TestAgent; ledger: DurableLedger }> {
  const agent = await TestAgent.start();
  agent.provision();
  const dataDir = folder();
  return { dataDir, agent, ledger: await open(dataDir, options(agent.socket)) };
}

const findings = async (ledger: DurableLedger) => (await ledger.status()).findings.map(({ code }) => code);
const findingOf = async (ledger: DurableLedger, code: string) =>
  (await ledger.status()).findings.find((finding) => finding.code === code)?.message;
const states = async (ledger: DurableLedger, purpose: LedgerKeyPurpose) =>
  (await ledger.keyRecords()).filter((key) => key.purpose === purpose).map(({ state }) => state);

/** Appends until the log accepts the entry, because the agent is probed periodically. */
const appendsAgain = (ledger: DurableLedger, n: number) =>
  vi.waitFor(() => ledger.append([entry(n)]), { timeout: 60_000, interval: 50 });

describe.skipIf(withoutAgent !== undefined)('a log whose keys are in an ssh-agent', () => {
  test('signs heads, entries and checkpoints with the agent, and continues after a restart', async () => {
    const { dataDir, agent, ledger } = await opened();
    await ledger.append(entries(0, 5));
    const pins = [await ledger.head()];
    expect(await ledger.checkpoint()).toContain('\n5\n');
    for (const purpose of purposes) {
      expect(activeFile(dataDir, purpose)).toMatchObject({ svc_signer: 'ssh-agent' });
      expect(activeFile(dataDir, purpose)).not.toHaveProperty('d');
    }
    expect(activeFile(dataDir, 'access-token')).toHaveProperty('d');
    await ledger.close();
    const again = await open(dataDir, options(agent.socket));
    expect((await again.status()).health).toEqual({ state: 'ok' });
    await again.append(entries(5, 300));
    expect(await findings(again)).toEqual([]);
    await reverify(again, { pins });
  });

  test('uses only Ed25519 keys with the comment of the purpose, or keys named in the settings', async () => {
    const agent = await TestAgent.start();
    agent.load(agent.make('candor:transparency-sth', 'ecdsa'), agent.make('ann@work'));
    const dataDir = folder();
    const first = open(dataDir, options(agent.socket));
    await expect(first).rejects.toThrow('ssh-keygen -t ed25519 -C candor:transparency-sth');
    const fingerprints = purposes.map((purpose) => {
      const path = agent.make(`token ${purpose}`);
      agent.load(path);
      return `${purpose}=${agent.fingerprint(path)}`;
    });
    const ledger = await open(dataDir, options(agent.socket, { keys: fingerprints }));
    await ledger.append(entries(0, 3));
    await reverify(ledger);
  });

  test('refuses appends but serves reads while the agent is gone, and recovers once the agent is back', async () => {
    const { agent, ledger } = await opened();
    await ledger.append(entries(0, 3));
    const head = await ledger.head();
    await agent.stop();
    const refused = Array.from({ length: 20 }, (_, n) => ledger.append([entry(100 + n)]));
    expect(new Set(await Promise.all(refused.map(codeOf)))).toEqual(new Set(['UNAVAILABLE']));
    expect(await findings(ledger)).toEqual(['signer_unavailable']);
    expect(await ledger.head()).toEqual(head);
    await agent.start();
    agent.reload();
    await appendsAgain(ledger, 3);
    expect(await findings(ledger)).toEqual([]);
    const { ids } = await reverify(ledger, { pins: [head] });
    expect(ids).toEqual([...entries(0, 4)].map(({ id }) => id));
  });

  test('starts and serves reads without the agent, and recovers once the agent is there', async () => {
    const { dataDir, agent, ledger } = await opened();
    await ledger.append(entries(0, 3));
    await ledger.close();
    await agent.stop();
    const again = await open(dataDir, options(agent.socket));
    expect((await again.status()).health).toEqual({ state: 'ok' });
    expect(await findings(again)).toEqual(['signer_unavailable']);
    expect(await codeOf(again.append([entry(3)]))).toBe('UNAVAILABLE');
    await reverify(again);
    await agent.start();
    agent.reload();
    await appendsAgain(again, 3);
    expect(await findings(again)).toEqual([]);
    await reverify(again);
  });

  test('refuses appends while the agent is locked', async () => {
    const { agent, ledger } = await opened();
    await ledger.append(entries(0, 3));
    await agent.lock();
    expect(await codeOf(ledger.append([entry(3)]))).toBe('UNAVAILABLE');
    expect(await findingOf(ledger, 'signer_unavailable')).toContain('refused');
    await agent.unlock();
    await appendsAgain(ledger, 3);
    await reverify(ledger);
  });

  test('refuses appends if only the tree-head key is in the agent and the agent fails to sign the head', async () => {
    const agent = await TestAgent.start();
    agent.provision();
    const dataDir = folder();
    const ledger = await open(dataDir, options(agent.socket, { purposes: ['transparency-sth'] }));
    expect(activeFile(dataDir, 'event-signing')).toHaveProperty('d');
    await ledger.append(entries(0, 300));
    await agent.stop();
    // The first append reaches the signature of the head. The leaves that it added in memory must be
    // removed.
    const calls = Array.from({ length: 5 }, (_, n) => ledger.append(entries(1000 + 10 * n, 1010 + 10 * n)));
    expect(new Set(await Promise.all(calls.map(codeOf)))).toEqual(new Set(['UNAVAILABLE']));
    expect((await ledger.head()).tree_size).toBe(300);
    await agent.start();
    agent.reload();
    await vi.waitFor(() => ledger.append(entries(300, 310)), { timeout: 60_000, interval: 50 });
    const { ids } = await reverify(ledger);
    expect(ids).toEqual(entries(0, 310).map(({ id }) => id));
  });

  test('publishes the missed head of a boundary once the agent is back', async () => {
    const agent = await TestAgent.start();
    agent.provision();
    const delayMs = 64; // a multiple of 1024 ns, like all timestamps
    const boundary = BigInt(Math.ceil(Date.now() / delayMs) * delayMs) * 1_000_000n;
    const time = { now: boundary + 1_000_000n };
    const ledger = await open(folder(), {
      ...options(agent.socket, { purposes: ['transparency-sth'] }),
      clock: () => time.now,
      publicationDelayMs: delayMs,
    });
    time.now += 5_000_000n;
    await ledger.append(entries(0, 3));
    const last = await ledger.head();
    await agent.stop();
    time.now = boundary + BigInt(delayMs + 1) * 1_000_000n;
    await vi.waitFor(async () => expect(await findings(ledger)).toEqual(['signer_unavailable']), 60_000);
    expect((await ledger.status()).health).toEqual({ state: 'ok' });
    expect(await ledger.head()).toEqual(last);
    await agent.start();
    agent.reload();
    await vi.waitFor(async () => expect(await findings(ledger)).toEqual([]), { timeout: 60_000 });
    await vi.waitFor(async () => expect(await ledger.head()).not.toEqual(last), 60_000);
    const { tree_size, timestamp_ns } = await ledger.head();
    expect({ tree_size, timestamp_ns }).toEqual({
      tree_size: 3,
      timestamp_ns: Number(boundary + BigInt(delayMs) * 1_000_000n),
    });
    time.now = boundary + BigInt(2 * delayMs) * 1_000_000n;
    expect(await ledger.checkpoint()).toContain('\n3\n');
    await ledger.append(entries(3, 5));
    await reverify(ledger);
  });

  test('appends the first entry of a life once the agent is back, if the life started while the agent was gone', async () => {
    const { dataDir, agent, ledger } = await opened();
    await ledger.append(entries(0, 3));
    await ledger.close();
    agent.provision();
    const keys = KeyRing.load(join(dataDir, 'keys'));
    const used = await openAgent(dataDir, options(agent.socket).agent, keys, () => undefined);
    await startLife(keys, { start: lifeStartOf('copied', {}, {}), fromSize: 3 });
    await used!.close();
    await agent.stop();
    const again = await open(dataDir, options(agent.socket));
    expect(await again.status()).toMatchObject({ health: { state: 'ok' }, size: 3, life_pending: true });
    expect(await findings(again)).toEqual(['signer_unavailable']);
    expect(await codeOf(again.append([entry(3)]))).toBe('UNAVAILABLE');
    await again.tick();
    expect((await again.status()).size).toBe(3);
    await agent.start();
    agent.reload();
    await vi.waitFor(
      async () => {
        await again.tick();
        expect((await again.status()).life).toBeDefined();
      },
      { timeout: 60_000, interval: 50 },
    );
    await again.append([entry(3)]);
    const { leaves } = await again.entries({ from: 3, page: 1, per_page: 10 });
    expect(leaves.map(({ canonical }) => JSON.parse(Buffer.from(canonical).toString()).kind)).toEqual([
      'log.life_started',
      entry(3).kind,
    ]);
    expect(await again.status()).not.toHaveProperty('life_pending');
    expect(await findings(again)).toEqual([]);
  });

  const harmful = damages.filter((damage) => damage !== 'none' && damage !== 'one byte at a time');
  test.each(harmful)('does not store entries when the agent sends garbage: %s', async (damage) => {
    const { agent, dataDir, ledger: direct } = await opened();
    await direct.append(entries(0, 3));
    await direct.close();
    const proxy = await damagingProxy(agent);
    const ledger = await open(dataDir, options(proxy.socket));
    const head = await ledger.head();
    proxy.damage(damage);
    expect(await codeOf(ledger.append(entries(3, 5)))).toBe('UNAVAILABLE');
    expect(await codeOf(ledger.append(entries(5, 7)))).toBe('UNAVAILABLE');
    expect(await findings(ledger)).toEqual(['signer_unavailable']);
    expect(await ledger.head()).toEqual(head);
    proxy.damage('none');
    await appendsAgain(ledger, 3);
    const { ids } = await reverify(ledger, { pins: [head] });
    expect(ids).toHaveLength(4);
  });

  test('reads responses of the agent that arrive byte by byte', async () => {
    const { agent, dataDir, ledger: direct } = await opened();
    await direct.close();
    const proxy = await damagingProxy(agent);
    proxy.damage('one byte at a time');
    const ledger = await open(dataDir, options(proxy.socket));
    await ledger.append(entries(0, 20));
    await reverify(ledger);
  });

  test('blocks the thread for one timeout if the agent does not respond, regardless of the number of waiting appends', async () => {
    const { agent, dataDir, ledger: direct } = await opened();
    await direct.close();
    const proxy = await damagingProxy(agent);
    const ledger = await open(dataDir, options(proxy.socket, { purposes }));
    proxy.damage('hangs');
    const calls = Array.from({ length: 100 }, (_, n) => codeOf(ledger.append([entry(n)])));
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['UNAVAILABLE']));
    expect(await findingOf(ledger, 'signer_unavailable')).toContain(`${limits.signerTimeoutMs} ms`);
  });

  test('rotates to the next key in the agent, or reports how to add a key', async () => {
    const agent = await TestAgent.start();
    agent.provision();
    const time = { now: Date.now() };
    const hour = 3600_000;
    const dataDir = folder();
    const ledger = await open(dataDir, {
      ...options(agent.socket),
      clock: () => BigInt(time.now) * 1_000_000n,
      rotation: { periods: { 'transparency-sth': 24 * hour }, overlapMs: hour },
    });
    await ledger.append(entries(0, 3, time.now));
    expect(await codeOf(ledger.rotateKey('transparency-sth', 'ann'))).toBe('UNAVAILABLE');
    time.now += 23 * hour;
    await ledger.tick();
    expect(await findingOf(ledger, 'key_rotation_failed')).toContain(
      'ssh-keygen -t ed25519 -C candor:transparency-sth',
    );
    expect(await states(ledger, 'transparency-sth')).toEqual(['active']);
    const next = agent.make('candor:transparency-sth');
    agent.load(next);
    await ledger.tick();
    expect(await findings(ledger)).toEqual([]);
    expect(await states(ledger, 'transparency-sth')).toEqual(['active', 'pending']);
    // The successor is gone when it is due, so the old key continues.
    agent.remove(next);
    time.now += hour;
    await ledger.tick();
    expect(await states(ledger, 'transparency-sth')).toEqual(['active', 'pending']);
    expect(await findings(ledger)).toEqual(['key_rotation_failed']);
    await ledger.append(entries(3, 5, time.now));
    agent.load(next);
    await ledger.tick();
    expect(await states(ledger, 'transparency-sth')).toEqual(['retired', 'active']);
    expect(await findings(ledger)).toEqual([]);
    await ledger.append(entries(5, 8, time.now));
    await reverify(ledger);
  });

  test('moves from key files to the agent and back by rotations', async () => {
    const dataDir = folder();
    const agent = await TestAgent.start();
    const files = await open(dataDir);
    await files.append(entries(0, 3));
    const pins = [await files.head()];
    await files.close();
    agent.provision();
    const moving = await open(dataDir, options(agent.socket));
    await moving.tick();
    await moving.append(entries(3, 6));
    for (const purpose of ['transparency-sth', 'event-signing'] as const) {
      expect(await states(moving, purpose)).toEqual(['retired', 'active']);
      expect(activeFile(dataDir, purpose)).toMatchObject({ svc_signer: 'ssh-agent' });
    }
    // Clients identify the log by this key, so only a revocation replaces it.
    expect(activeFile(dataDir, 'checkpoint')).toHaveProperty('d');
    const rotations = (await keyEntries(moving)).filter(({ kind }) => kind === 'key.rotated');
    expect(rotations).toHaveLength(2);
    await reverify(moving, { pins });
    await moving.close();
    const back = await open(dataDir, options(agent.socket, { purposes: [] }));
    await back.tick();
    await back.append(entries(6, 9));
    for (const purpose of ['transparency-sth', 'event-signing'] as const)
      expect(activeFile(dataDir, purpose)).toHaveProperty('d');
    expect(await findings(back)).toEqual([]);
    await reverify(back, { pins });
  });

  test('can revoke a key whose hardware token is lost, and continues with the next key of the agent', async () => {
    const { dataDir, agent, ledger } = await opened();
    await ledger.append(entries(0, 3));
    agent.removeAll();
    expect(await codeOf(ledger.append([entry(3)]))).toBe('UNAVAILABLE');
    const lost = [activeFile(dataDir, 'transparency-sth').kid, activeFile(dataDir, 'event-signing').kid];
    agent.load(agent.make('candor:transparency-sth'), agent.make('candor:event-signing'));
    for (const kid of lost) await ledger.revokeKey(String(kid), 'the token is lost', 'ann');
    await ledger.append(entries(3, 6));
    expect(await findings(ledger)).toEqual([]);
    await reverify(ledger);
  });

  test('does not report keys of the agent as lost if no agent is configured, and cannot sign', async () => {
    const { dataDir, ledger } = await opened();
    await ledger.append(entries(0, 3));
    await ledger.close();
    const again = await open(dataDir);
    onTestFinished(() => again.close());
    expect((await again.status()).health).toEqual({ state: 'ok' });
    expect(await codeOf(again.append([entry(3)]))).toBe('UNAVAILABLE');
    expect(await findingOf(again, 'signer_unavailable')).toContain('ledger.ssh_agent_socket');
    expect(await codeOf(again.checkpoint())).toBe('UNAVAILABLE');
    await reverify(again);
  });

  test('does not use the keys of the log that it replaces', async () => {
    const { dataDir, agent, ledger } = await opened();
    await ledger.append(entries(0, 3));
    const old = (await ledger.keys()).map(({ x }) => x);
    await ledger.close();
    const again = { ...options(agent.socket), dataDir, evenIfThere: true };
    await expect(beginNewLog(again)).rejects.toThrow(/no unused .* key/);
    agent.provision();
    await beginNewLog(again);
    const fresh = await open(dataDir, options(agent.socket));
    await fresh.append(entries(0, 3));
    for (const key of await fresh.keys()) expect(old).not.toContain(key.x);
    await reverify(fresh);
  });
});
