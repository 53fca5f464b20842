/** An honest log and its operator's work: no party accuses the log or stores evidence against it. */
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { restoreBackup } from '../../src/backup/restore.ts';
import { auditOnce } from '../../src/cli/audit.ts';
import { comparePins } from '../../src/cli/compare-pins.ts';
import { savePin } from '../../src/cli/pin-file.ts';
import { audit } from '../../src/client/auditor.ts';
import { type BundleProofs, parseBundleProofs, verifyBundleProofs } from '../../src/client/bundle-proofs.ts';
import { type KeySet, parseKeySet } from '../../src/client/key-set.ts';
import { httpLog } from '../../src/client/log-source.ts';
import type { Pin } from '../../src/client/pin.ts';
import { judge } from '../../src/client/verdict.ts';
import { type Bundle, parseBundle } from '../../src/client/verify.ts';
import { sha256 } from '../../src/crypto/sha256.ts';
import { beginNewLog } from '../../src/ledger/check/begin-new-log.ts';
import { rebuild } from '../../src/ledger/check/rebuild.ts';
import type { LedgerKeyPurpose, LogView } from '../../src/ledger/ledger.ts';
import { continueCopy, recordMove } from '../../src/ledger/lives/continue-copy.ts';
import { Cosigner } from '../../src/witness/cosigner.ts';
import { parsePolicy } from '../../src/witness/parse-policy.ts';
import { startParts } from '../backup/parts.ts';
import { ServedLog } from '../client/served-log.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { purposes, TestAgent, withoutAgent } from '../ssh-agent/agent.ts';
import { cosignature, rogueWitness } from '../witness/rogue-witness.ts';
import { type KeyPair, keyPair } from '../witness/test-log.ts';
import {
  type Cosigned,
  commandOf,
  consoleOf,
  consolePinOf,
  cosignedOf,
  fsckOf,
  healthOf,
  pinOf,
  rowsOf,
  verifyOf,
  watchedOf,
  witnessOf,
} from './parties.ts';

const startedAt = Date.now();
const hourMs = 3_600_000;
let log: ServedLog;
let older: string;
let base: string;
let pin: Pin;
let cosigned: Cosigned;

const temporary = mkdtempSync(join(tmpdir(), 'candor-honest-'));
let copies = 0;
function copyOf(folder: string): string {
  const copy = join(temporary, String(copies++));
  cloneFolder(folder, copy);
  return copy;
}

beforeAll(async () => {
  log = await ServedLog.start(startedAt - hourMs);
  await log.append(5);
  older = await log.snapshot();
  log.now = startedAt;
  await log.append(4);
  base = await log.snapshot();
  pin = await pinOf(httpLog(log.url));
  cosigned = await cosignedOf(httpLog(log.url), log.ledger);
});
afterAll(async () => {
  await log.close();
  rmSync(temporary, { recursive: true, force: true });
});

const rotate = (purpose: LedgerKeyPurpose) => () => log.ledger.rotateKey(purpose, 'system');
const revoke = (purpose: LedgerKeyPurpose) => async () => {
  const active = (await log.ledger.keyRecords()).find((key) => key.purpose === purpose && key.state === 'active');
  await log.ledger.revokeKey(active!.kid, 'stolen', 'system');
};
/** Runs a command on the folder of the stopped service. */
const command = (run: (dataDir: string) => Promise<unknown>) => () =>
  log.tamper(async (dataDir) => void (await run(dataDir)));

/** Restarts the log with this publication delay, and serves the view of callers without a token. */
const delayed = (seconds: number) => async () => {
  log.options = { publicationDelayMs: 1000 * seconds };
  log.view = seconds > 0 ? 'published' : 'current';
  await log.tamper(() => {});
  log.now += 1000;
};

/** Appends three entries, `seconds` apart. A log with a shorter publication delay then shows the first. */
async function growing(seconds: number): Promise<void> {
  for (let i = 0; i < 3; i++) {
    log.now += 1000 * seconds;
    await log.append(1);
  }
}

const events: Record<string, () => Promise<unknown>> = {
  'rotation of the tree-head key': rotate('transparency-sth'),
  'rotation of the event key': rotate('event-signing'),
  'rotation of the access-token key': rotate('access-token'),
  'revocation of the tree-head key': revoke('transparency-sth'),
  'revocation of the event key': revoke('event-signing'),
  'revocation of the checkpoint key': revoke('checkpoint'),
  'revocation of the access-token key': revoke('access-token'),
  'restore of a backup': async () => {
    const dataDir = join(temporary, String(copies++));
    await log.tamper(async (folder) => {
      const parts = await startParts(folder);
      const { id } = await parts.backups.begin('system');
      const { attributes } = await parts.backups.ended(id);
      await parts.close();
      const anchorPath = join(dataDir, 'anchor.json');
      await restoreBackup({ backup: attributes.path!, dataDir, anchorPath, replace: false, now: Date.now });
    });
    await log.restore(dataDir);
  },
  'loss accepted': command(async (dataDir) => {
    cpSync(join(older, 'ledger.mdb'), join(dataDir, 'ledger.mdb'));
    await rebuild({ dataDir, acceptLoss: true });
  }),
  'new log begun': command((dataDir) => beginNewLog({ dataDir, evenIfThere: true })),
  'copy with a new life': command((dataDir) => continueCopy({ dataDir })),
  'copy without a new life': async () => {
    const dataDir = join(temporary, String(copies++));
    cpSync(log.folder, dataDir, { recursive: true });
    await log.restore(dataDir);
  },
  'move to another volume': async () => {
    const dataDir = join(temporary, String(copies++));
    cpSync(log.folder, dataDir, { recursive: true });
    await recordMove({ dataDir });
    await log.restore(dataDir);
  },
  'rename of the folder': async () => {
    const dataDir = join(temporary, String(copies++));
    await log.tamper((folder) => {
      renameSync(folder, dataDir);
      return dataDir;
    });
  },
  'clock ahead, not confirmed': async () => {
    log.now += 100 * 24 * hourMs;
    await log.tamper(() => {});
  },
  'clock ahead, confirmed': async () => {
    log.now += 100 * 24 * hourMs;
    await log.tamper(() => {});
    await log.ledger.confirmClock();
  },
  'clock half an hour back': async () => {
    log.now -= hourMs / 2;
  },
  'kill -9': () => log.restore(copyOf(log.folder)),
  'keys to an ssh-agent': async () => {
    const agent = await TestAgent.start();
    agent.provision();
    log.options = { agent: { socket: agent.socket, purposes, keys: [] } };
    await log.tamper(() => {});
    for (const purpose of ['transparency-sth', 'event-signing'] as const) await rotate(purpose)();
  },
  'publication delay set': delayed(10),
  'publication delay set, then growth': async () => {
    await delayed(10)();
    await growing(17);
  },
  'publication delay changed': async () => {
    await delayed(10)();
    await growing(17);
    await delayed(15)();
    await growing(25);
  },
  'publication delay removed': async () => {
    await delayed(10)();
    await growing(17);
    await delayed(0)();
  },
  'rotation before publication': async () => {
    await delayed(10)();
    await rotate('transparency-sth')();
    await growing(17);
  },
  'published head by a revoked key': async () => {
    await delayed(10)();
    await growing(17);
    await revoke('transparency-sth')();
  },
};

/**
 * Columns, after each event and one more entry: start-up, fsck, audits with the earlier pin, with entries,
 * without a pin, the watching auditor, the witness, the console on a bundle, the console with the earlier pin,
 * `candor verify` with the earlier pin, and the comparison of the earlier and later pins.
 */
const rows = rowsOf(`
  rotation of the tree-head key      | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 12          | cosigned    | good        | verified              | verified                | 0 same_tree
  rotation of the event key          | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 12          | cosigned    | good        | verified              | verified                | 0 same_tree
  rotation of the access-token key   | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 12          | cosigned    | good        | verified              | verified                | 0 same_tree
  revocation of the tree-head key    | ok                 | ok | 4 UNVOUCHED_KEY         | 4 UNVOUCHED_KEY         | 0 pinned                | UNVOUCHED_KEY    | cosigned    | good        | UNVOUCHED_KEY         | 4 UNVOUCHED_KEY         | 4 UNVOUCHED_KEY
  revocation of the event key        | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 11          | cosigned    | good        | verified              | verified                | 0 same_tree
  revocation of the checkpoint key   | ok                 | ok | 4 UNVOUCHED_KEY         | 4 UNVOUCHED_KEY         | 0 pinned                | UNVOUCHED_KEY    | unknown_key | good        | UNVOUCHED_KEY         | 4 UNVOUCHED_KEY         | 0 same_tree
  revocation of the access-token key | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 11          | cosigned    | good        | verified              | verified                | 0 same_tree
  restore of a backup                | ok                 | ok | 4 NEW_LIFE              | 4 NEW_LIFE              | 0 pinned                | NEW_LIFE         | unknown_log | good        | NEW_LIFE              | 4 NEW_LIFE              | 4 UNVOUCHED_KEY
  loss accepted                      | ok                 | ok | 4 NEW_LIFE              | 4 NEW_LIFE              | 0 pinned                | NEW_LIFE         | unknown_log | good        | NEW_LIFE              | 4 NEW_LIFE              | 4 UNVOUCHED_KEY
  new log begun                      | ok                 | ok | 4 NEW_LOG               | 4 NEW_LOG               | 0 pinned                | NEW_LOG          | unknown_log | refused     | NEW_LOG               | 4 NEW_LOG               | 4 UNVOUCHED_KEY
  copy with a new life               | ok                 | ok | 4 NEW_LIFE              | 4 NEW_LIFE              | 0 pinned                | NEW_LIFE         | unknown_log | good        | NEW_LIFE              | 4 NEW_LIFE              | 4 UNVOUCHED_KEY
  copy without a new life            | copied             | ok | 3 UNAVAILABLE           | 3 UNAVAILABLE           | 3 UNAVAILABLE           | UNAVAILABLE      | UNAVAILABLE | unavailable | UNAVAILABLE           | 3 UNAVAILABLE           | -
  move to another volume             | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 10          | cosigned    | good        | verified              | verified                | 0 same_tree
  rename of the folder               | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 10          | cosigned    | good        | verified              | verified                | 0 same_tree
  clock ahead, not confirmed         | clock clock_jumped | ok | 0 unchanged             | 0 unchanged             | 0 pinned                | size 9           | cosigned    | good        | verified              | verified                | 0 same_tree
  clock ahead, confirmed             | ok                 | ok | 4 HEAD_FROM_FUTURE file | 4 HEAD_FROM_FUTURE file | 4 HEAD_FROM_FUTURE file | HEAD_FROM_FUTURE | cosigned    | good        | HEAD_FROM_FUTURE file | 4 HEAD_FROM_FUTURE file | -
  clock half an hour back            | ok clock_jumped    | ok | 0 extended              | 0 extended              | 0 pinned                | size 10          | cosigned    | good        | verified              | verified                | 0 same_tree
  kill -9                            | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 10          | cosigned    | good        | verified              | verified                | 0 same_tree
  keys to an ssh-agent               | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 14          | cosigned    | good        | verified              | verified                | 0 same_tree
  publication delay set              | ok                 | ok | 0 unchanged             | 0 unchanged             | 0 pinned                | size 9           | cosigned    | good        | verified              | verified                | 0 same_tree
  publication delay set, then growth | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 10          | cosigned    | good        | verified              | verified                | 0 same_tree
  publication delay changed          | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 13          | cosigned    | good        | verified              | verified                | 0 same_tree
  publication delay removed          | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 13          | cosigned    | good        | verified              | verified                | 0 same_tree
  rotation before publication        | ok                 | ok | 0 extended              | 0 extended              | 0 pinned                | size 12          | cosigned    | good        | verified              | verified                | 0 same_tree
  published head by a revoked key    | ok                 | ok | 4 KEY_REVOKED           | 4 KEY_REVOKED           | 4 KEY_REVOKED           | KEY_REVOKED      | cosigned    | broken      | KEY_REVOKED           | 4 KEY_REVOKED           | -
`);

test.each(rows)('every party has the expected verdict on this honest event: %s', async (event, ...verdicts) => {
  if (event === 'keys to an ssh-agent' && withoutAgent !== undefined) return;
  Object.assign(log, { now: startedAt + 1000, options: {}, view: 'current' });
  await log.restore(copyOf(base));
  await events[event!]!();
  await log.append(1).catch(() => undefined);
  const source = httpLog(log.url);
  const state = join(temporary, `pins-${copies++}`);
  const audited = async (name: string, before: Pin | undefined, entries?: true) => {
    const path = join(state, name);
    if (before !== undefined) await savePin(path, before, undefined);
    return commandOf(await auditOnce(source, { state: path, interval: 0, entries: entries ?? false }));
  };
  const found = [await audited('pinned', pin), await audited('entries', pin, true), await audited('fresh', undefined)];
  const { reports, ended } = await watchedOf(pin, [() => source]);
  expect(ended).toBe(false);
  const asked = [
    ...[...found, reports[0]!.fault?.code ?? reports[0]!.state],
    await witnessOf(source, cosigned),
    await consoleOf(source, 2),
    await consolePinOf(log.url, pin),
    await verifyOf(source, 2, pin),
    found[2]!.startsWith('0') ? await compared(state) : '-',
  ];
  const actual = [healthOf(await log.ledger.status()), await fsckOf(copyOf(log.folder)), ...asked];
  expect(actual.join()).not.toMatch(/evidence|5 /);
  expect(actual).toEqual(verdicts);
});

test('auditors that require a replaced witness reject the checkpoint', async () => {
  Object.assign(log, { now: startedAt + 1000, options: {}, view: 'current' });
  await log.restore(copyOf(base));
  const [old, next] = [keyPair('witness.example/old', 4), keyPair('witness.example/next', 4)];
  const state = join(temporary, 'witnesses');
  await savePin(state, pin, undefined);
  const audited = async (witness: KeyPair, by: KeyPair) => {
    log.lies = [{ path: '/checkpoint', tell: (note) => note + cosignature(note, by) }];
    const flags = { witness: [witness.public], quorum: 1 };
    return commandOf(await auditOnce(httpLog(log.url), { state, interval: 0, entries: false, ...flags }));
  };
  expect(await audited(old, old)).toBe('0 unchanged');
  expect(await audited(old, next)).toBe('4 QUORUM_MISSED');
  expect(await audited(next, next)).toBe('0 unchanged');
  log.lies = [];
});

test('a witness that falsely reports a rollback raises a finding of the service, and no other party accuses the log', async () => {
  Object.assign(log, { now: startedAt + 1000, options: {}, view: 'current' });
  await log.restore(copyOf(base));
  const rogue = await rogueWitness((response) =>
    response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end('99\n'),
  );
  const policy = `witness w ${rogue.vkey} ${rogue.url}\nquorum none\n`;
  const cosigner = await Cosigner.start({
    ledger: log.ledger,
    policy: parsePolicy(sha256, new TextEncoder().encode(policy)),
    waitMs: 60_000,
    intervalMs: 20,
    fail: 'open',
    log: { warn: () => {}, error: () => {} },
    now: Date.now,
  });
  onTestFinished(() => cosigner.close());
  const codes = () => cosigner.findings().map(({ code }) => code);
  await vi.waitFor(() => expect(codes()).toEqual(['witness_rollback']), { timeout: 60_000 });
  const source = httpLog(log.url);
  const state = join(temporary, 'false-claim');
  await savePin(state, pin, undefined);
  expect([
    commandOf(await auditOnce(source, { state, interval: 0 })),
    await witnessOf(source, cosigned),
    await consolePinOf(log.url, pin),
    await verifyOf(source, 2, pin),
  ]).toEqual(['0 unchanged', 'cosigned', 'verified', 'verified']);
});

test('an auditor who pinned with a token and reads without it rejects the published heads without evidence', async () => {
  Object.assign(log, { now: startedAt + 1000, options: {}, view: 'current' });
  await log.restore(copyOf(base));
  await delayed(10)();
  await growing(17);
  const state = join(temporary, 'token');
  await savePin(state, pin, undefined);
  const audited = async (view: LogView) => {
    log.view = view;
    return commandOf(await auditOnce(httpLog(log.url), { state, interval: 0 }));
  };
  expect(await audited('current')).toBe('0 extended');
  expect(await audited('published')).toBe('4 OLD_HEAD');
  await growing(17);
  expect(await audited('published')).toBe('4 HEAD_MISSING file');
  expect(await audited('current')).toBe('0 extended');
});

test('heads, checkpoints and pins of different lives are not compared', async () => {
  Object.assign(log, { now: startedAt + 1000, options: {}, view: 'current' });
  await log.restore(copyOf(base));
  await rotate('transparency-sth')();
  await log.append(1);
  const source = httpLog(log.url);
  const before = await followed(pin);
  const fork = await log.snapshot();
  log.now += 1000;
  await log.append(2);
  const [old, oldBundle] = [await followed(before), await bundleOf(0)];
  await log.restore(fork);
  log.now += 600_000;
  await command((dataDir) => continueCopy({ dataDir, clock: () => BigInt(log.now) * 1_000_000n }))();
  while ((await log.ledger.head()).tree_size < old.head.size) await log.append(1);
  const acceptedKeys = (await log.ledger.keyRecords())
    .filter(({ state }) => state === 'active')
    .map(({ fingerprint }) => fingerprint);
  const accepted = await followed(before, acceptedKeys);
  expect(accepted.head.size).toBe(old.head.size);
  const files = join(temporary, `lives-${copies++}`);
  const [a, b] = ['a', 'b'].map((name) => join(files, name));
  await savePin(a!, accepted, undefined);
  await savePin(b!, old, undefined);

  for (const url of [undefined, source])
    expect(commandOf(await comparePins([a!, b!], url, Date.now()))).toBe('4 UNVOUCHED_KEY');

  const keys = parseKeySet(JSON.stringify({ keys: await log.ledger.currentKeys() })) as KeySet;
  const found = { code: 'FORK', message: 'two roots', log: log.url, foundAt: old.updatedAt };
  const heads = { pinnedAt: old.updatedAt, pinnedHead: old.head, head: accepted.head };
  for (const trusted of [keys, new Map([...accepted.keys, ...old.keys])])
    expect(judge({ ...found, ...heads, keys }, trusted)).toMatchObject({
      convicts: false,
      reason: expect.stringContaining('two lives'),
    });

  const { tlog_proof, checkpoint_published } = JSON.parse(oldBundle);
  const text = (await bundleOf(0)).replace(/"tlog_proof".*?"timestamps"/, () => {
    const proof = JSON.stringify({ tlog_proof, checkpoint_published, checkpoint_consistency: [] });
    return `${proof.slice(1, -1)},"timestamps"`;
  });
  const [bundle, proofs] = [parseBundle(text) as Bundle, parseBundleProofs(text) as BundleProofs];
  expect(verifyBundleProofs(bundle, proofs, keys, { trustedKeys: true })).toMatchObject({
    code: 'WRONG_ROOT',
  });
});

async function followed(before: Pin, acceptedKeys: readonly string[] = []): Promise<Pin> {
  const result = await audit(httpLog(log.url), before, { now: log.now, acceptedKeys });
  if (!('pin' in result)) throw new Error(JSON.stringify(result));
  return result.pin;
}

const bundleOf = async (index: number): Promise<string> =>
  (await fetch(`${log.url}/api/transparency/proof?leaf_index=${index}`)).text();

async function compared(state: string): Promise<string> {
  const own = join(state, 'own');
  await savePin(own, pin, undefined);
  return commandOf(await comparePins([own, join(state, 'fresh')], httpLog(log.url), Date.now()));
}
