import { type KeyObject, verify } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importPublicKey } from '../../crypto/ed25519.ts';
import { encodeHead } from '../../tlog/head.ts';
import { type KeyFile, KeyFileError, lostPurposes, parseKeyFile, recordedSize } from '../keys/key-file.ts';
import { Key } from '../keys/signing-key.ts';
import type { LedgerKeyPurpose } from '../ledger.ts';
import type { SignedHead } from '../storage/storage.ts';

export interface PublicKey {
  readonly kid: string;
  readonly purpose: string;
  /** Smallest size of a head, or smallest index of an entry, that the key covers. */
  readonly fromSize: number;
  /** Largest size of a head that the key covers; for entries, the index after the last that the key covers. */
  readonly toSize: number;
  readonly key: KeyObject;
  readonly life: string | undefined;
}

/**
 * The public keys in the key files of a folder, for checking a log that is not running: needs no passphrase
 * and writes nothing. It does not matter whether a key was retired or revoked later, because its earlier
 * signatures remain valid.
 */
export class PublicKeys {
  readonly #keys = new Map<string, PublicKey>();
  /** The readable key files. */
  readonly files: KeyFile[] = [];
  readonly damaged: string[] = [];
  /** The life whose tree-head key is active. */
  life: string | undefined;
  /**
   * Whether the current life has no entry in the log yet. Until then, heads of the previous life are treated as
   * current.
   */
  isUnlogged = false;

  /**
   * Loads the keys; a missing folder is empty. @throws the system's error if the folder or a file cannot be
   * read
   */
  static load(folder: string): PublicKeys {
    const found = new PublicKeys();
    for (const name of namesIn(folder).sort()) {
      if (!name.endsWith('.json')) continue;
      const kid = name.slice(0, -'.json'.length);
      try {
        found.#add(kid, readFileSync(join(folder, name), 'utf8'));
      } catch (error) {
        if (!(error instanceof KeyFileError)) throw error;
        found.damaged.push(`${join(folder, name)}: ${error.message}`);
      }
    }
    return found;
  }

  get size(): number {
    return this.#keys.size;
  }

  /**
   * Purposes without an active key. Unlike at start-up, private keys may be missing, as in a backup. Empty if key files
   * are damaged or missing.
   */
  get missing(): LedgerKeyPurpose[] {
    if (this.damaged.length > 0 || this.size === 0) return [];
    return lostPurposes(this.files, ({ svc_state }) => svc_state === 'active');
  }

  /** The largest size in the key files of the current life. */
  get recordedSize(): number {
    return recordedSize(this.files, this.life);
  }

  get(kid: string, purpose: 'transparency-sth' | 'event-signing'): PublicKey | undefined {
    const key = this.#keys.get(kid);
    return key?.purpose === purpose ? key : undefined;
  }

  /** Returns whether the key of the head belongs to the current life. */
  isCurrent = ({ keyId }: SignedHead): boolean => this.isUnlogged || this.#keys.get(keyId)?.life === this.life;

  /** Returns whether a key of this log signed the head. */
  isSigned = (head: SignedHead): boolean => {
    const key = this.get(head.keyId, 'transparency-sth');
    return key !== undefined && head.signature.length === 64 && verify(null, encodeHead(head), key.key, head.signature);
  };

  #add(kid: string, text: string): void {
    const file = parseKeyFile(text);
    if (file.kid !== kid) throw new KeyFileError(`contains key ${file.kid}, which does not match the file name`);
    Key.of(file); // rejects a private key that does not belong to the public key
    const key = importPublicKey(new Uint8Array(Buffer.from(file.x, 'base64url')));
    if (key === undefined) throw new KeyFileError('x is not an acceptable Ed25519 public key');
    this.files.push(file);
    const { svc_purpose: purpose, svc_state: state, svc_from_size = 0, svc_to_size, svc_life: life } = file;
    // A pending key has signed nothing. If the log shows otherwise, the key file is older than the log.
    const toSize = svc_to_size ?? (state === 'pending' ? 0 : Number.MAX_SAFE_INTEGER);
    this.#keys.set(kid, { kid, purpose, key, fromSize: svc_from_size, toSize, life });
    if (purpose === 'transparency-sth' && state === 'active') this.life = life;
    if (file.svc_life_start !== undefined) this.isUnlogged = true;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
