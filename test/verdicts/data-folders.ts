/**
 * Data folders of one log at several times, with all files of a running service, and the verdicts of all
 * parties on a folder whose files were damaged, removed or replaced.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpLog, type LogSource } from '../../src/client/log-source.ts';
import type { Pin } from '../../src/client/pin.ts';
import { loadConfig } from '../../src/config/load.ts';
import { takeDataFolder } from '../../src/files/data-folder.ts';
import { recordInstance } from '../../src/ledger/lives/instance.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { SnapshotReader } from '../../src/ledger/reads/snapshot-reader.ts';
import { openStore } from '../../src/store/writer.ts';
import { startParts } from '../backup/parts.ts';
import { alertsOf } from '../backup/writers.ts';
import { ServedLog } from '../client/served-log.ts';
import { cloneFolder } from '../files/copy-folder.ts';
import { alice, forRoles, openPolicy, withRules } from '../identities/policy-parts.ts';
import {
  auditOf,
  type Cosigned,
  consoleOf,
  cosignedOf,
  fsckOf,
  healthOf,
  pinOf,
  verifyOf,
  watchOf,
  witnessOf,
} from './parties.ts';

/** The state of honest parties that saw a log at one time. */
export interface Seen {
  readonly pin: Pin;
  readonly cosigned: Cosigned;
}

/** `rotated`: the folder of `now`, after the end of every key and with more alerts. */
export type FolderName = 'older' | 'now' | 'rotated' | 'other';

const purposes = ['transparency-sth', 'event-signing', 'access-token'] as const;

export class DataFolders {
  readonly paths: Readonly<Record<FolderName, string>>;
  /** Views of the log `now` and `rotated`. The witness cosigned a smaller checkpoint of the same key. */
  readonly seen: Readonly<Record<'now' | 'rotated', Seen>>;
  readonly #served: ServedLog;
  readonly #other: ServedLog;
  /** The undamaged logs, for the last round of a watching auditor. */
  readonly #sound: Readonly<Record<'now' | 'rotated', ServedLog>>;

  private constructor(
    paths: DataFolders['paths'],
    seen: DataFolders['seen'],
    [served, other, now, rotated]: readonly [ServedLog, ServedLog, ServedLog, ServedLog],
  ) {
    this.paths = paths;
    this.seen = seen;
    this.#served = served;
    this.#other = other;
    this.#sound = { now, rotated };
  }

  static async make(): Promise<DataFolders> {
    const served = await ServedLog.start();
    served.hasEvents = true;
    const source = httpLog(served.url);
    writeFileSync(join(served.folder, 'config.json'), '{"http.drain_ms": 5000}\n');
    await served.tamper(changePolicy('auditor'));
    await addAlerts(served, 0);
    await served.append(230, 'backup.created'); // entries that siem.mdb does not cause
    const older = await served.snapshot();
    const cosigned = await cosignedOf(source, served.ledger);
    await served.tamper(changePolicy('analyst'));
    await addAlerts(served, 5);
    await served.append(80, 'backup.created'); // completes a tile of 256 entries
    writeFileSync(join(served.folder, 'config.json'), '{"http.drain_ms": 6000}\n');
    await served.snapshot(); // restarts, which the journal records
    const now = await served.snapshot();
    const sound = await ServedLog.start();
    await sound.restore(await served.snapshot());
    const seen = { pin: await pinOf(source), cosigned };

    for (const purpose of purposes) await served.ledger.rotateKey(purpose, 'system');
    const checkpointKey = (await served.ledger.keyRecords()).find(({ purpose }) => purpose === 'checkpoint');
    await served.ledger.revokeKey(checkpointKey!.kid, 'stolen', 'system');
    const cosignedAfter = await cosignedOf(source, served.ledger);
    await addAlerts(served, 10);
    await served.append(20, 'backup.created');
    const rotated = await served.snapshot();
    const soundAfter = await ServedLog.start();
    await soundAfter.restore(await served.snapshot());
    const seenAfter = { pin: await pinOf(source), cosigned: cosignedAfter };

    const other = await ServedLog.start();
    writeFileSync(join(other.folder, 'config.json'), '{"http.drain_ms": 7000}\n');
    await other.tamper(changePolicy('viewer'));
    await addAlerts(other, 1000);
    await other.append(400, 'backup.created');
    const paths = { older, now, rotated, other: await other.snapshot() };
    let days = 100;
    for (const folder of Object.values(paths)) {
      await remember(folder, days++);
      await recordInstance(folder);
    }
    return new DataFolders(paths, { now: seen, rotated: seenAfter }, [served, other, sound, soundAfter]);
  }

  async close(): Promise<void> {
    const { now, rotated } = this.#sound;
    await Promise.all([this.#served, this.#other, now, rotated].map((log) => log.close()));
  }

  /**
   * Returns the verdict of each party on a copy of this folder after a change: start-up (`ok` or the fault,
   * then findings), the codes of fsck's findings, audits with a pin, with a pin and entries, and without a
   * pin (exit code and result), the watching auditor, a witness, the console's verifier on a bundle, and
   * `candor verify` of an entry without a pin. A dash means that the service does not start, so no party can query it.
   *
   * @param files - the changed files; parts of the service that only read other files are not started
   */
  async verdictsOf(
    name: 'now' | 'rotated',
    files: readonly string[],
    change: (folder: string) => unknown,
  ): Promise<string[]> {
    const folder = mkdtempSync(join(tmpdir(), 'candor-verdict-'));
    try {
      cloneFolder(this.paths[name], folder);
      await recordInstance(folder);
      await change(folder);
      const checked = await fsckOf(folder);
      const start = await this.#startOf(folder, files);
      const asked = start.startsWith('refused') ? Array.from({ length: 7 }, () => '-') : await this.#ask(name);
      return [start, checked, ...asked];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Starts a service over this folder, step by step. The served log represents its responses. */
  async #startOf(folder: string, files: readonly string[]): Promise<string> {
    try {
      loadConfig({ CANDOR_DATA_DIR: folder });
      takeDataFolder(folder).release();
    } catch (error) {
      return refusal(error, files);
    }
    this.#served.now = Date.now();
    await this.#served.restore(folder);
    const health = healthOf(await this.#served.ledger.status());
    if (!health.startsWith('ok')) return health;
    if (files.includes('scrub.json')) await scrub(folder);
    try {
      if (files.some((file) => file.startsWith('policy.'))) return `${health} ${await policyOf(folder)}`;
      if (files.some((file) => file.startsWith('siem.mdb')))
        await openStore({ dataDir: folder, alertWindowMs: 3_600_000 }).close();
    } catch (error) {
      return refusal(error, files);
    }
    return health;
  }

  async #ask(name: 'now' | 'rotated'): Promise<string[]> {
    const { pin, cosigned } = this.seen[name];
    const source = httpLog(this.#served.url);
    const audits = [
      await auditOf(source, pin),
      await auditOf(source, pin, { entries: true }),
      await auditOf(source, undefined),
    ];
    const convicting = audits.filter(({ evidence }) => evidence?.includes('"convicts":true'));
    if (convicting.length > 0) throw new Error(`a party has evidence against the log: ${JSON.stringify(convicting)}`);
    const sound = at(source.url, this.#sound[name]);
    const watched = await watchOf(
      pin,
      () => source,
      () => sound,
    );
    return [
      ...audits.map(({ exit, found, evidence }) => `${exit} ${found}${evidence === undefined ? '' : ' file'}`),
      watched,
      await witnessOf(source, cosigned),
      await consoleOf(source, 3),
      await verifyOf(source, 3),
    ];
  }
}

/** Serves a log at the URL of another log. */
function at(url: string, { url: own }: ServedLog): LogSource {
  const log = httpLog(own);
  return { url, get: (path) => log.get(path), getBytes: (path) => log.getBytes(path) };
}

/** Returns the path of a file in a folder; `keys/<purpose>` is the file of the first key of that purpose. */
export function pathOf(folder: string, file: string): string {
  if (!file.startsWith('keys/')) return join(folder, file);
  const purpose = file.slice('keys/'.length);
  const names = readdirSync(join(folder, 'keys')).sort();
  const name = names.find((one) =>
    readFileSync(join(folder, 'keys', one), 'utf8').includes(`"svc_purpose":"${purpose}"`),
  );
  return join(folder, 'keys', name!);
}

/** Checks that a refused start names the file, or the command that completes an interrupted restore. */
function refusal(error: unknown, files: readonly string[]): string {
  const text = error instanceof Error ? error.message : String(error);
  const named = files.find((file) => text.includes(file) || (file === 'restore.json' && /candor restore/.test(text)));
  if (named === undefined && !(files.includes('config.json') && text.includes('drain_ms'))) throw error;
  return `refused ${named ?? 'config.json'}`;
}

/**
 * Returns the version of the policy after a start, the logged change, and whether the start reports a
 * problem.
 */
async function policyOf(folder: string): Promise<string> {
  const { policy, warnings, waiting, close } = await openPolicy(folder, { isUsed: true });
  const logged = (await waiting()).map(({ kind }) => kind);
  const { version } = policy.current;
  await close();
  return [`v${version}`, ...logged, ...(warnings.length > 0 ? ['warned'] : [])].join(' ');
}

const changePolicy =
  (role: 'auditor' | 'analyst' | 'viewer') =>
  async (folder: string): Promise<void> => {
    const { policy, close } = await openPolicy(folder);
    await policy.replace(withRules(policy.current.rules, forRoles('listAlerts', role)), alice);
    await close();
  };

/** Raises and logs alerts as the service does: siem.mdb records their positions in the log. */
const addAlerts = (log: ServedLog, from: number): Promise<void> =>
  log.tamper(async (folder) => {
    const parts = await startParts(folder);
    await parts.store.commit(alertsOf(from, 5));
    parts.pump.wake();
    await parts.pump.idle();
    await parts.close();
  });

/** Writes the files that a folder has after a scrub, and after a start at which the clock was days ahead. */
async function remember(folder: string, days: number): Promise<void> {
  await scrub(folder);
  const copy = mkdtempSync(join(tmpdir(), 'candor-verdict-'));
  cloneFolder(folder, copy);
  const ahead = BigInt(Date.now() + days * 86_400_000) * 1_000_000n;
  const ledger = await openLedger({ dataDir: copy, clock: () => ahead });
  await ledger.close();
  for (const name of ['clock.json', 'scrub.json']) cpSync(join(copy, name), join(folder, name));
  rmSync(copy, { recursive: true });
}

async function scrub(folder: string): Promise<void> {
  const reader = await SnapshotReader.open({ dataDir: folder, scrub: 'by hand' });
  await reader.scrub.step();
  await reader.close();
}
