/** The access policy with a real store and log, in a temporary folder per test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccessRule } from '../../src/contract/resources/policy.ts';
import { openDatabase } from '../../src/database/lmdb.ts';
import type { VolumeQueue } from '../../src/files/volume-queue.ts';
import { type AccessPolicy, openAccessPolicy, type PolicyStep } from '../../src/identities/access-policy.ts';
import type { StoredPolicy } from '../../src/identities/store/policy.ts';
import { openReader } from '../../src/store/reader.ts';
import type { OutboxRow, Principal, Store, StoreReader } from '../../src/store/store.ts';
import { openTables } from '../../src/store/tables.ts';
import { openStore } from '../../src/store/writer.ts';
import { uuid7 } from '../../src/uuid.ts';

export const system = { id: 'system', name: 'system' };
export const alice = { id: '018f0000-0000-7000-8000-00000000000a', name: 'alice' };

export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'candor-policy-'));

export interface PolicyOptions {
  readonly file?: string;
  /** Wraps the function that commits changes. */
  readonly commit?: (commit: Store['changePolicy']) => Store['changePolicy'];
  readonly onStep?: (step: PolicyStep) => void;
  readonly isUsed?: boolean;
  readonly volume?: VolumeQueue;
  readonly settings?: { readonly metricsNeedRole?: boolean; readonly publicEntries?: boolean };
}

export interface OpenPolicy {
  readonly policy: AccessPolicy;
  readonly store: Store;
  readonly reader: StoreReader;
  readonly warnings: unknown[];
  changes(): number;
  /** Returns the rows in the outbox. */
  waiting(): Promise<OutboxRow[]>;
  addPrincipal(changes: Partial<Principal>): Promise<Principal>;
  close(): Promise<void>;
}

/** Opens the folder. A new folder gets the user alice, an administrator with a password. */
export async function openPolicy(dataDir: string, options: PolicyOptions = {}): Promise<OpenPolicy> {
  const store = openStore({ dataDir, alertWindowMs: 1000 });
  const reader = openReader(dataDir);
  const addPrincipal = async (changes: Partial<Principal>): Promise<Principal> => {
    const principal: Principal = {
      id: uuid7(Date.now()),
      name: `somebody ${Math.random()}`,
      kind: 'user',
      roles: [],
      status: 'active',
      created_at: new Date().toISOString(),
      ...changes,
    };
    await store.createPrincipal(principal, system);
    return principal;
  };
  if (reader.principalByName(alice.name) === undefined)
    await addPrincipal({ ...alice, roles: ['admin'], password_hash: 'a hash' });
  const commit: Store['changePolicy'] = (change, by) => store.changePolicy(change, by);
  const warnings: unknown[] = [];
  let changes = 0;
  const policy = await openAccessPolicy({
    dataDir,
    file: options.file,
    defaults: { metricsNeedRole: false, publicEntries: false, ...options.settings },
    reader,
    writer: { changePolicy: options.commit?.(commit) ?? commit },
    sources: { now: Date.now, newId: () => uuid7(Date.now()) },
    onChange: () => {
      changes++;
    },
    warn: (message, error) => warnings.push(error ?? message),
    isUsed: options.isUsed ?? false,
    ...(options.volume === undefined ? {} : { volume: options.volume }),
    ...(options.onStep === undefined ? {} : { onStep: options.onStep }),
  }).catch(async (error: unknown) => {
    reader.close();
    await store.close();
    throw error;
  });
  return {
    policy,
    store,
    reader,
    warnings,
    changes: () => changes,
    waiting: async () => (await store.outbox(100)).filter(({ kind }) => kind.startsWith('policy.')),
    addPrincipal,
    async close() {
      await policy.close();
      reader.close();
      await store.close();
    },
  };
}

/** Changes the policy stored in a folder while the service is stopped; undefined removes it. */
export async function rewriteStored(
  dataDir: string,
  change: (stored: StoredPolicy) => StoredPolicy | undefined,
): Promise<void> {
  const root = openDatabase(join(dataDir, 'siem.mdb'));
  const { accessPolicy } = openTables(root);
  const after = change(accessPolicy.get('current')!);
  root.transactionSync(() => {
    if (after === undefined) accessPolicy.removeSync('current');
    else accessPolicy.putSync('current', after);
  });
  await root.close();
}

export const removeFolder = (dataDir: string): void => rmSync(dataDir, { recursive: true });

/** Returns the rules, with `others` in place of the rules for the same operations. */
export function withRules(rules: readonly AccessRule[], ...others: readonly AccessRule[]): AccessRule[] {
  const replaced = new Set(others.map(({ operation }) => operation));
  return [...rules.filter(({ operation }) => !replaced.has(operation)), ...others];
}

export const forRoles = (operation: string, ...roles: AccessRule['roles']): AccessRule => ({
  operation,
  access: 'roles',
  roles,
});
