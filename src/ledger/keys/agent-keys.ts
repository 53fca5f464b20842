import { createHash, type KeyObject } from 'node:crypto';
import { importPublicKey, verifyEd25519 } from '../../crypto/ed25519.ts';
import { limits } from '../../limits.ts';
import { AgentConnection } from '../../ssh-agent/agent-connection.ts';
import { BlockingAgent } from '../../ssh-agent/blocking-agent.ts';
import { AgentError, type Identity } from '../../ssh-agent/wire.ts';
import type { LedgerKeyPurpose } from '../ledger.ts';
import { type Signer, SignerError } from './signer.ts';

export interface AgentOptions {
  /** Path of the Unix socket. If absent, keys of an agent cannot sign. */
  readonly socket?: string;
  /**
   * Purposes whose new keys come from the agent. Access tokens are excluded, because jose signs them with a
   * key in memory.
   */
  readonly purposes: readonly string[];
  /** Additional keys, as `<purpose>=SHA256:<fingerprint>`, whose comment does not name the purpose. */
  readonly keys: readonly string[];
}

/** Reports why keys of the agent cannot sign; undefined once all keys can sign again. */
export type ReportFault = (message: string | undefined) => void;

/**
 * The keys in an ssh-agent. Each signature is verified before it is returned. After a failure, signing with
 * that key fails immediately until a background probe gets a valid signature.
 */
export class AgentKeys {
  readonly #options: AgentOptions;
  readonly #connection: AgentConnection | undefined;
  readonly #blocking: BlockingAgent | undefined;
  /** Public keys that other logs used. */
  readonly #used: ReadonlySet<string>;
  readonly #report: ReportFault;
  readonly #signers = new Map<string, AgentSigner>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(
    options: AgentOptions,
    used: ReadonlySet<string>,
    blocking: BlockingAgent | undefined,
    report: ReportFault,
  ) {
    const { socket } = options;
    this.#options = options;
    this.#used = used;
    this.#blocking = blocking;
    this.#report = report;
    if (socket !== undefined) this.#connection = new AgentConnection(socket, limits.signerTimeoutMs);
  }

  static async open(options: AgentOptions, used: ReadonlySet<string>, report: ReportFault): Promise<AgentKeys> {
    const { socket } = options;
    const blocking = socket === undefined ? undefined : await BlockingAgent.start(socket, limits.signerTimeoutMs);
    return new AgentKeys(options, used, blocking, report);
  }

  /** Returns whether new keys of the purpose come from the agent. */
  holds(purpose: string): boolean {
    return this.#options.purposes.includes(purpose);
  }

  /** Returns the signer of a key, always the same object. */
  signer(publicKey: Uint8Array): Signer {
    const name = fingerprintOf(publicKey);
    const known = this.#signers.get(name);
    if (known !== undefined) return known;
    const signer = new AgentSigner(publicKey, {
      now: (message) => this.#blockingAgent().sign(publicKey, message),
      later: (message) => this.#agent().sign(publicKey, message),
      onFault: () => this.#changed(),
    });
    this.#signers.set(name, signer);
    return signer;
  }

  /** Stops reporting faults of a key that has ended. */
  forget(publicKey: Uint8Array): void {
    if (this.#signers.delete(fingerprintOf(publicKey))) this.#changed();
  }

  /**
   * Returns the first key in the agent for this purpose that no log has used, after a test signature. `used` are the
   * public keys of this log, base64url.
   *
   * @throws SignerError, with instructions, if there is no such key
   */
  async unused(purpose: LedgerKeyPurpose, used: ReadonlySet<string>): Promise<Uint8Array> {
    for (const { publicKey } of await this.#identities(purpose)) {
      const x = Buffer.from(publicKey).toString('base64url');
      if (used.has(x) || this.#used.has(x)) continue;
      await this.check(publicKey);
      return publicKey;
    }
    const name = commentOf(purpose);
    throw new SignerError(
      `the ssh-agent has no unused ${purpose} key: make one with \`ssh-keygen -t ed25519 -C ${name} -f <file>\` and ` +
        'load it with `ssh-add <file>`',
    );
  }

  /** Requests a signature of a probe by the key. @throws SignerError */
  async check(publicKey: Uint8Array): Promise<void> {
    const probe = new AgentSigner(publicKey, {
      now: () => new Uint8Array(0),
      later: (message) => this.#agent().sign(publicKey, message),
      onFault: () => {},
    });
    await probe.signLater(probeMessage);
  }

  /** Probes these keys, so that the first append does not have to wait for an unresponsive agent. */
  async probe(publicKeys: readonly Uint8Array[]): Promise<void> {
    await Promise.allSettled(publicKeys.map((publicKey) => this.signer(publicKey).signLater(probeMessage)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#connection?.close();
    await this.#blocking?.close();
  }

  async #identities(purpose: LedgerKeyPurpose): Promise<Identity[]> {
    try {
      const offered = await this.#agent().identities();
      return offered.filter(
        ({ publicKey, comment }) =>
          comment === commentOf(purpose) || this.#options.keys.includes(`${purpose}=${fingerprintOf(publicKey)}`),
      );
    } catch (error) {
      if (error instanceof AgentError) throw new SignerError(error.message);
      throw error;
    }
  }

  #agent(): AgentConnection {
    return this.#connection ?? noSocket();
  }

  #blockingAgent(): BlockingAgent {
    return this.#blocking ?? noSocket();
  }

  /**
   * Reports the current faults, and starts probes while there are any. Called when a signer failed, recovered or ended.
   */
  #changed(): void {
    const faults = [...this.#signers.values()].flatMap(({ fault }) => fault?.message ?? []);
    this.#report(faults.length === 0 ? undefined : [...new Set(faults)].join('; '));
    if (faults.length === 0 || this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#retry(), limits.signerProbeMs).unref();
  }

  async #retry(): Promise<void> {
    await Promise.all(
      [...this.#signers.values()].filter(({ fault }) => fault !== undefined).map((signer) => signer.retry()),
    );
    this.#timer = undefined;
    this.#changed();
  }
}

interface AgentSignerParts {
  now(message: Uint8Array): Uint8Array;
  later(message: Uint8Array): Promise<Uint8Array>;
  onFault(): void;
}

/** Signs with one key of the ssh-agent, and keeps the error of the last failed signature. */
class AgentSigner implements Signer {
  readonly #name: string;
  readonly #public: KeyObject | undefined;
  readonly #parts: AgentSignerParts;
  #fault: SignerError | undefined;

  constructor(publicKey: Uint8Array, parts: AgentSignerParts) {
    this.#name = fingerprintOf(publicKey);
    this.#public = importPublicKey(publicKey);
    this.#parts = parts;
  }

  get fault(): SignerError | undefined {
    return this.#fault;
  }

  sign(message: Uint8Array): Uint8Array {
    if (this.#fault !== undefined) throw this.#fault;
    try {
      return this.#verified(message, this.#parts.now(message));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async signLater(message: Uint8Array): Promise<Uint8Array> {
    if (this.#fault !== undefined) throw this.#fault;
    return this.#try(message);
  }

  /** Clears the fault if the agent signs again. */
  async retry(): Promise<void> {
    try {
      await this.#try(probeMessage);
      this.#fault = undefined;
    } catch {
      // Keep the fault; the next probe retries.
    }
  }

  async #try(message: Uint8Array): Promise<Uint8Array> {
    try {
      return this.#verified(message, await this.#parts.later(message));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Returns the signature if the public key verifies it; throws AgentError otherwise. */
  #verified(message: Uint8Array, signature: Uint8Array): Uint8Array {
    if (this.#public === undefined || !verifyEd25519(this.#public, message, signature))
      throw new AgentError('the ssh-agent returned an invalid signature');
    return signature;
  }

  #failed(error: unknown): unknown {
    if (!(error instanceof AgentError || error instanceof SignerError)) return error;
    const isNew = this.#fault === undefined;
    this.#fault = new SignerError(`key ${this.#name} cannot sign: ${error.message}; nothing was stored`);
    if (isNew) this.#parts.onFault();
    return this.#fault;
  }
}

/**
 * A message that cannot be confused with any other that a key of the log signs: it is not a head, canonical JSON, or a
 * note.
 */
const probeMessage = new TextEncoder().encode('candor signer probe');

const commentOf = (purpose: string): string => `candor:${purpose}`;

/**
 * Formats a fingerprint as `ssh-add -l` does: SHA-256 of the key blob (RFC 8709, section 4), base64 without
 * padding.
 */
function fingerprintOf(publicKey: Uint8Array): string {
  const algorithm = Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0\x20', 'latin1');
  const digest = createHash('sha256').update(algorithm).update(publicKey).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

function noSocket(): never {
  throw new AgentError('no ssh-agent is configured: set ledger.ssh_agent_socket');
}
