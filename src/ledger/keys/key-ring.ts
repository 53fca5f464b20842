import type { Key as KeyRecord } from '../../contract/resources/key.ts';
import { keyPurposes } from '../../contract/vocabulary.ts';
import { ServiceError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { AccessTokenKeys, LedgerKeyPurpose, PublicJwk } from '../ledger.ts';
import type { AgentKeys } from './agent-keys.ts';
import { decryptPrivate, encryptPrivate, noPassphrase } from './key-encryption.ts';
import {
  activated,
  agentKeyFile,
  byAge,
  hasPrivateKey,
  type KeyFile,
  KeyFileError,
  ledgerPurposes,
  lostPurposes,
  newKeyFile,
  parseKeyFile,
  published,
  recordedSize,
  recordOf,
} from './key-file.ts';
import { KeyFolder } from './key-folder.ts';
import { originInLife } from './life-origin.ts';
import { Key } from './signing-key.ts';

export type { Key, SigningKey } from './signing-key.ts';

/** An access token is valid for at most an hour; the clocks of its verifiers may differ slightly. */
const tokenGraceMs = 65 * 60_000;

interface View {
  /** Keys in order of creation, oldest first. */
  readonly ordered: readonly Key[];
  readonly published: PublicJwk[];
  /** Active keys that can sign, by purpose. */
  readonly active: ReadonlyMap<string, Key>;
  readonly pending: ReadonlyMap<string, Key>;
  /** The life of the active tree-head key, locked or not. */
  readonly life: string | undefined;
  /** The origin of the active checkpoint key, locked or not. */
  readonly origin: string | undefined;
}

function viewOf(keys: readonly Key[]): View {
  const ordered = keys.toSorted((a, b) => byAge(a.file, b.file));
  const inState = (state: string) =>
    new Map(ordered.filter((key) => key.state === state && key.canSign).map((key) => [key.purpose, key]));
  return {
    ordered,
    published: ordered.map(({ file }) => published(file)),
    active: inState('active'),
    pending: inState('pending'),
    life: ordered.findLast(isActive('transparency-sth'))?.file.svc_life,
    origin: ordered.findLast(isActive('checkpoint'))?.file.svc_origin,
  };
}

const isActive = (wanted: string) => (key: Key) => key.purpose === wanted && key.state === 'active';

/**
 * All keys of the log, from `<data>/keys/`. A key has a state and the sizes that it covers. Keys are never deleted, so
 * that every public key ever used can be served forever. Owns the files: the keys in memory change once the files are
 * on disk.
 */
export class KeyRing {
  readonly #folder: KeyFolder;
  readonly #keys = new Map<string, Key>();
  /**
   * View of the keys, cached until a key changes: after ten years there are thousands of keys, and each append needs a
   * key.
   */
  #view: View | undefined;
  readonly #damaged: string[] = [];
  /** Encrypts new private keys. */
  #passphrase: string | undefined;
  #agent: AgentKeys | undefined;

  constructor(folder: string) {
    this.#folder = new KeyFolder(folder);
  }

  /**
   * Reads the key files; encrypted private keys stay locked. An invalid file is skipped and listed in
   * `damaged`.
   */
  static load(folder: string): KeyRing {
    const ring = new KeyRing(folder);
    for (const [kid, text] of ring.#folder.read()) {
      ring.#collectDamage(kid, () => {
        const key = Key.of(parseKeyFile(text));
        if (key.kid !== kid) throw new KeyFileError(`contains key ${key.kid}, which does not match the file name`);
        ring.#put(key);
      });
    }
    return ring;
  }

  /**
   * Prepares the keys for the owner of the folder: removes leftovers of interrupted writes, and decrypts encrypted
   * private keys. If there is a passphrase, existing unencrypted and new private keys are encrypted.
   *
   * @throws PassphraseError if the passphrase is missing or wrong
   */
  async unlock(passphrase: string | undefined): Promise<void> {
    this.#folder.removeUnfinished();
    const locked = this.#all().filter(({ file }) => file.svc_encrypted !== undefined);
    if (passphrase === undefined) {
      if (locked.length > 0) throw noPassphrase();
      return;
    }
    const opened = await Promise.allSettled(
      locked.map(async (key) => key.unlocked(await decryptPrivate(key.file, key.file.svc_encrypted!, passphrase))),
    );
    opened.forEach((result, i) => {
      this.#collectDamage(locked[i]!.kid, () => {
        if (result.status === 'rejected') throw result.reason;
        this.#put(result.value);
      });
    });
    this.#passphrase = passphrase;
    const plain = this.#all().filter(({ file }) => file.d !== undefined);
    this.change(await Promise.all(plain.map((key) => this.#encrypted(key))));
  }

  /** Encrypts private keys created from now on; existing files stay as they are. */
  encryptNewKeys(passphrase: string | undefined): void {
    this.#passphrase = passphrase;
  }

  /**
   * Attaches an ssh-agent: keys whose files name an agent sign with this agent, which also provides the new keys of
   * its purposes.
   */
  useAgent(agent: AgentKeys): void {
    this.#agent = agent;
    for (const key of this.#all()) if (key.file.svc_signer !== undefined) this.#put(key);
  }

  /** Returns whether the key is in a file and new keys of its purpose come from the agent, or vice versa. */
  isMisplaced({ file, purpose }: Key): boolean {
    return (file.svc_signer !== undefined) !== (this.#agent?.holds(purpose) ?? false);
  }

  /** Requests a test signature for a key of the agent, before anything depends on it. @throws SignerError */
  async check({ file, publicKey }: Key): Promise<void> {
    if (file.svc_signer !== undefined) await this.#agent?.check(publicKey);
  }

  /** Unusable files and the reason for each. */
  get damaged(): readonly string[] {
    return this.#damaged;
  }

  /** Purposes whose active key was lost. Locked keys are not lost. */
  get lost(): LedgerKeyPurpose[] {
    return lostPurposes(this.files, (file) => file.svc_state === 'active' && hasPrivateKey(file));
  }

  /** Creates active keys, each flushed to disk before the next. `origin` names checkpoint keys. */
  async create(purposes: readonly LedgerKeyPurpose[], timeMs: number, origin?: string): Promise<void> {
    this.make();
    for (const purpose of purposes) {
      const key = await this.newKey(purpose, timeMs, origin);
      this.change([key.with(activated(key.file, 0, timeMs))]);
    }
  }

  /** Creates the folder if it is missing. */
  make(): void {
    this.#folder.make();
  }

  /** Creates an access-token key in memory, unless there is one. For a service whose key files are lost. */
  createEphemeralAccessKey(timeMs: number): void {
    if (this.active('access-token') !== undefined) return;
    const key = Key.of(activated(newKeyFile('access-token', timeMs), 0, timeMs));
    this.#put(key);
  }

  /**
   * Returns a new pending key of the current life. If new keys of the purpose come from the agent, the key pair is one
   * that no log has used. `change` adds the key to the ring.
   *
   * @throws SignerError if the agent has no unused key
   */
  async newKey(purpose: LedgerKeyPurpose, timeMs: number, origin?: string): Promise<Key> {
    const used = new Set(this.#all().map(({ file }) => file.x));
    const made = this.#agent?.holds(purpose)
      ? agentKeyFile(purpose, await this.#agent.unused(purpose, used), timeMs)
      : newKeyFile(purpose, timeMs);
    const { life } = this;
    const file = { ...made, ...(life === undefined ? {} : { svc_life: life }) };
    const named = {
      ...file,
      svc_origin: originInLife(origin ?? this.origin ?? `candor.log/${file.kid}`, life),
    };
    return this.#encrypted(this.#signing(Key.of(purpose === 'checkpoint' ? named : file)));
  }

  /**
   * Writes and flushes these keys in this order, and adds them to the ring. A crash in between leaves the first files
   * new and the remaining files old.
   *
   * @throws UNAVAILABLE if the disk does not accept writes; nothing has changed then. After any other error the state
   * of the files is unknown, and they must be read again.
   */
  change(keys: readonly Key[], steps?: { prepared(): void; renamed(key: Key): void }): void {
    const files = keys.map(({ file }) => file);
    try {
      this.#folder.prepare(files);
    } catch (error) {
      const { code, syscall } = error as NodeJS.ErrnoException;
      if (syscall === undefined) throw error;
      throw new ServiceError('UNAVAILABLE', `key files cannot be written (${code})`);
    }
    steps?.prepared();
    this.#folder.commit(files, (file) => steps?.renamed(keys[files.indexOf(file)]!));
    for (const key of keys) this.#put(key);
  }

  /**
   * Reads the files again after a write with unknown outcome. Their names are flushed first, so that the
   * state read is on disk.
   *
   * @throws if a file is unreadable or invalid; memory is unchanged then
   */
  async reload(): Promise<void> {
    this.#folder.flush();
    const ring = KeyRing.load(this.#folder.path);
    await ring.unlock(this.#passphrase);
    if (ring.damaged.length > 0) throw new Error(`key files are damaged: ${ring.damaged.join('; ')}`);
    this.#keys.clear();
    for (const key of ring.#all()) this.#put(key);
  }

  /** Returns purposes without a key that can sign. */
  missing(): LedgerKeyPurpose[] {
    return ledgerPurposes.filter((purpose) => this.active(purpose) === undefined);
  }

  /** Returns the key with this id, if it has the purpose. */
  get(kid: string, purpose?: LedgerKeyPurpose): Key | undefined {
    const key = this.#keys.get(kid);
    return purpose === undefined || key?.purpose === purpose ? key : undefined;
  }

  /** Returns the active key of this purpose; undefined without an active key that can sign. */
  active(purpose: LedgerKeyPurpose): Key | undefined {
    return this.#currentView().active.get(purpose);
  }

  /** Returns the pending key of this purpose, which takes over next; undefined without a pending key that can sign. */
  pending(purpose: LedgerKeyPurpose): Key | undefined {
    return this.#currentView().pending.get(purpose);
  }

  /** Returns all keys, oldest first. */
  all(): readonly Key[] {
    return this.#currentView().ordered;
  }

  /** Returns the files of all keys, oldest first. */
  get files(): KeyFile[] {
    return this.all().map(({ file }) => file);
  }

  /** The log's name in notes. */
  get origin(): string | undefined {
    return this.#currentView().origin;
  }

  /** The current life of the log, 8 hex digits; undefined in the first life. */
  get life(): string | undefined {
    return this.#currentView().life;
  }

  /** Whether the current life has no entry in the log yet. */
  get isUnlogged(): boolean {
    return this.#all().some(({ file }) => file.svc_life_start !== undefined);
  }

  /** The largest size in the key files of the current life. */
  get recordedSize(): number {
    return recordedSize(this.files, this.life);
  }

  /** Sets the configured origin of the log, with the suffix of its life. */
  rename(configured: string | undefined): void {
    const key = this.active('checkpoint');
    if (key === undefined || configured === undefined) return;
    const origin = originInLife(configured, this.life);
    if (key.file.svc_origin !== origin) this.change([key.with({ ...key.file, svc_origin: origin })]);
  }

  /** Returns the SHA-256 of the raw public key, lowercase hex; undefined for an unknown key. */
  fingerprint(kid: string): string | undefined {
    return this.#keys.get(kid)?.fingerprint;
  }

  /**
   * Returns whether this key of this purpose made the signature, in any state of the key. Start-up must accept
   * signatures that a key made before it was revoked; verifiers reject them.
   */
  verify(kid: string, purpose: LedgerKeyPurpose, message: Uint8Array, signature: Uint8Array): boolean {
    return this.get(kid, purpose)?.verify(message, signature) ?? false;
  }

  /** Returns every public key, oldest first. */
  publicJwks(): PublicJwk[] {
    return this.#currentView().published;
  }

  /**
   * Returns the public keys of active and pending keys, of `signer`, and of the most recently ended keys of
   * each purpose.
   */
  currentJwks(signer: string | undefined): PublicJwk[] {
    const { ordered } = this.#currentView();
    const endedAt = ({ file }: Key) => file.svc_revoked_at ?? file.svc_not_after ?? '';
    const isEnded = ({ state }: Key) => state === 'retired' || state === 'revoked';
    const recent = new Set(
      keyPurposes.flatMap((purpose) =>
        ordered
          .filter((key) => key.purpose === purpose && isEnded(key))
          .sort((a, b) => (endedAt(a) < endedAt(b) ? 1 : -1))
          .slice(0, limits.publishedEndedKeys),
      ),
    );
    const isCurrent = (key: Key) => !isEnded(key) || recent.has(key) || key.kid === signer;
    return ordered.filter(isCurrent).map(({ file }) => published(file));
  }

  records(): KeyRecord[] {
    return this.all().map(({ file, fingerprint }) => recordOf(file, fingerprint));
  }

  /** Returns the keys that issue and verify access tokens. @throws UNAVAILABLE without a key that can sign */
  accessTokenKeys(nowMs: number): AccessTokenKeys {
    const current = this.active('access-token');
    if (current?.d === undefined) throw new ServiceError('UNAVAILABLE', 'there is no access-token key');
    const recentlyRetired = ({ purpose, state, file }: Key) =>
      purpose === 'access-token' &&
      state === 'retired' &&
      file.svc_not_before !== undefined &&
      Date.parse(file.svc_not_after ?? '') > nowMs - tokenGraceMs;
    return {
      current: { ...published(current.file), d: current.d },
      verifying: [...this.all().filter(recentlyRetired), current].map(({ file }) => published(file)),
    };
  }

  #put(key: Key): void {
    this.#keys.set(key.kid, this.#signing(key));
    this.#view = undefined;
  }

  /** Attaches the agent's signer to a key of the agent, until the key ends. */
  #signing(key: Key): Key {
    if (key.file.svc_signer === undefined || this.#agent === undefined) return key;
    if (hasPrivateKey(key.file)) return key.canSign ? key : key.signedBy(this.#agent.signer(key.publicKey));
    this.#agent.forget(key.publicKey);
    return key;
  }

  #currentView(): View {
    this.#view ??= viewOf(this.#all());
    return this.#view;
  }

  async #encrypted(key: Key): Promise<Key> {
    const { d, ...file } = key.file;
    if (d === undefined || this.#passphrase === undefined) return key;
    return key.with({ ...file, svc_encrypted: await encryptPrivate(file, d, this.#passphrase) });
  }

  #collectDamage(kid: string, take: () => void): void {
    try {
      take();
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
      this.#damaged.push(`${this.#folder.path}/${kid}.json: ${error.message}`);
    }
  }

  #all(): Key[] {
    return [...this.#keys.values()];
  }
}
