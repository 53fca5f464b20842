import type { LedgerKeyPurpose } from '../ledger.ts';
import { activated, ended, type LifeStart, ledgerPurposes } from './key-file.ts';
import type { Key, KeyRing } from './key-ring.ts';
import { originInLife } from './life-origin.ts';

export interface NewLife {
  readonly start: LifeStart;
  /** The configured origin. Default: that of the previous life. */
  readonly origin?: string | undefined;
  /** Size from which the new keys sign. */
  readonly fromSize: number;
}

/** The order in which the files of new keys are written: the first file holds `svc_life_start`. */
const order: readonly LedgerKeyPurpose[] = ['event-signing', 'checkpoint', 'transparency-sth', 'access-token'];

/**
 * Ends every key that can sign, removing its private key, and creates new keys without a `key.rotated` entry.
 *
 * The event-signing key is written first, and its file holds `svc_life_start`, from which the entry is made. After a
 * crash following that write, `finishLifeKeys` completes the change before anything is signed; an earlier crash has
 * changed nothing. The log gets its `log.life_started` entry when it is opened.
 */
export async function startLife(keys: KeyRing, life: NewLife, step?: (key: Key) => void): Promise<void> {
  const { fromSize } = life;
  const start = withPrevious(life.start, carrierOf(keys)?.file.svc_life_start);
  const timeMs = Date.parse(start.at);
  const origin = life.origin ?? start.previous?.origin ?? keys.origin;
  const made = await Promise.all(order.map((purpose) => keys.newKey(purpose, timeMs, origin)));
  const checkpoint = made.find(({ purpose }) => purpose === 'checkpoint')!;
  const svc_life = checkpoint.fingerprint.slice(0, 8);
  const fresh = made.map((key, i) =>
    key.with({
      ...activated(key.file, fromSize, timeMs),
      svc_life,
      ...(i === 0 ? { svc_life_start: start } : {}),
      ...(key === checkpoint ? { svc_origin: originInLife(key.file.svc_origin!, svc_life) } : {}),
    }),
  );
  const old = keys.all().filter(canStillSign);
  keys.make();
  keys.change([...fresh, ...old.map((key) => endedBy(start, key))], {
    prepared() {},
    renamed: (key) => step?.(key),
  });
}

/** Returns the start of the new life, with the last previous life that has an entry in the log. */
function withPrevious(start: LifeStart, unlogged: LifeStart | undefined): LifeStart {
  if (unlogged?.previous === undefined) return start;
  const head = start.previous?.head ?? unlogged.previous.head;
  return {
    ...start,
    previous: { origin: unlogged.previous.origin, ...(head === undefined ? {} : { head }) },
  };
}

/**
 * Returns the life that was started but has no entry yet, after completing key files that a crash interrupted;
 * undefined if there is no such life. The keys of the life have signed nothing.
 */
export async function finishLifeKeys(keys: KeyRing, fromSize: number): Promise<LifeStart | undefined> {
  const carrier = carrierOf(keys);
  if (carrier === undefined) return undefined;
  const { svc_life, svc_life_start: start } = carrier.file;
  const others = keys.all().filter((key) => canStillSign(key) && key.file.svc_life !== svc_life);
  if (!isComplete(keys, svc_life)) {
    const origin = keys.all().findLast(({ file }) => file.svc_origin !== undefined)?.file.svc_origin;
    await startLife(keys, { start: start!, fromSize, ...(origin === undefined ? {} : { origin }) });
  } else if (others.length > 0) {
    keys.change(others.map((key) => endedBy(start!, key)));
  }
  return start;
}

/**
 * Returns the active key whose file has `svc_life_start`; undefined without such a key. If a crash left two such keys,
 * prefers the key whose life has all its keys.
 */
function carrierOf(keys: KeyRing): Key | undefined {
  const found = keys.all().filter(({ state, file }) => state === 'active' && file.svc_life_start !== undefined);
  return found.find(({ file }) => isComplete(keys, file.svc_life)) ?? found[0];
}

function isComplete(keys: KeyRing, life: string | undefined): boolean {
  const active = keys.all().filter(({ state, file }) => state === 'active' && file.svc_life === life);
  return ledgerPurposes.every((purpose) => active.some((key) => key.purpose === purpose));
}

/** Removes `svc_life_start` from the key file, because the entry is in the log. */
export function lifeIsLogged(keys: KeyRing): void {
  const carrier = carrierOf(keys);
  if (carrier === undefined) return;
  const { svc_life_start: _kept, ...file } = carrier.file;
  keys.change([carrier.with(file)]);
}

/**
 * Ends a key. Its last size is known only after an accepted loss; otherwise another copy of the keys may still be
 * signing.
 */
function endedBy({ reason, previous, at }: LifeStart, key: Key): Key {
  const toSize = reason === 'loss_accepted' ? previous?.head?.tree_size : undefined;
  return key.with(ended(key.file, { state: 'retired' }, toSize, Date.parse(at)));
}

function canStillSign({ state }: Key): boolean {
  return state === 'active' || state === 'pending';
}
