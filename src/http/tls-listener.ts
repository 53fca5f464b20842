import type { Logger } from 'pino';
import { VolumeQueue } from '../files/volume-queue.ts';
import { limits } from '../limits.ts';
import {
  readTlsFiles,
  readTlsFilesLater,
  stateOf,
  TlsFileError,
  type TlsFiles,
  type TlsMaterial,
} from './tls-files.ts';
import { TlsTransport } from './tls-transport.ts';

export interface TlsOptions extends TlsFiles {
  /** Whether requests without a valid client certificate are refused. Default `optional`. */
  readonly clientCertificates?: 'optional' | 'required';
}

/** The part of a uWebSockets.js app in use. */
export interface App {
  getDescriptor(): number;
  /** Ends all connections of the app. */
  close(): unknown;
}

/** The app that listens. It passes each connection, before its first byte, to one of its child apps. */
export interface Acceptor {
  addChildAppDescriptor(child: number): unknown;
  removeChildAppDescriptor(child: number): unknown;
}

export interface TlsListenerOptions {
  readonly tls: TlsOptions;
  readonly acceptor: Acceptor;
  /** Creates an app that serves TLS with the current files. Throws if the files are unusable. */
  readonly open: (transport: TlsTransport) => App;
  /** Closes the WebSockets of a transport with a close frame. */
  readonly leave: (transport: TlsTransport) => void;
  readonly log: Logger;
  /** How long connections opened under replaced TLS files stay open. Default: `limits.retiredTlsMs`. */
  readonly retiredMs?: number;
  /** Interval of checks for changed files. Default: 10 s. */
  readonly watchMs?: number;
  /** Limits concurrent file reads, in case a volume hangs. */
  readonly volume?: VolumeQueue;
}

export type Reloaded = 'reloaded' | 'unchanged' | 'refused';

interface Generation {
  readonly app: App;
  readonly transport: TlsTransport;
  readonly material: TlsMaterial;
}

/**
 * Default interval of checks for changed files, short enough for an operator who waits for a new certificate.
 * A check reads only the metadata of the files.
 */
const defaultWatchMs = 10_000;

/** The time that WebSocket clients have to read the close frame before their connections end. */
const leaveMs = 1000;

/**
 * Serves TLS, and replaces certificates without losing a connection: the listening socket stays open, and
 * only the app behind it changes.
 *
 * Connections that were made with previous files end with their next response, at the latest after
 * `limits.retiredTlsMs`. WebSockets are closed at that time, or immediately if an authority is no longer
 * trusted.
 *
 * An app cannot load new files, and opening a new listening socket would lose pending connections.
 * uWebSockets.js keeps about 90 kB of a closed app, which is acceptable because certificates change every few
 * weeks.
 */
export class TlsListener {
  readonly #options: TlsListenerOptions;
  readonly #retired: { readonly generation: Generation; readonly timer: NodeJS.Timeout }[] = [];
  readonly #watch: NodeJS.Timeout;
  readonly #volume: VolumeQueue;
  /**
   * The state of the files at the last reload; undefined before the first check, which therefore reads the files again.
   */
  #state: string | undefined;
  #isLooking = false;
  #current: Generation;
  #closed = false;

  /** Opens the first app. Throws TlsFileError for unusable files, and the errors of `open`. */
  constructor(options: TlsListenerOptions) {
    this.#options = options;
    this.#volume = options.volume ?? new VolumeQueue('the volume of the TLS files');
    this.#current = this.#open(readTlsFiles(options.tls));
    this.#watch = setInterval(() => void this.#look(), options.watchMs ?? defaultWatchMs);
    this.#watch.unref();
  }

  /**
   * Reads the files again. New connections get the new certificate. If a file is unusable, the error, which
   * names the file, is logged, and the previous files stay in use.
   */
  reload(): Promise<Reloaded> {
    return this.#guarded(async () => this.#take(await stateOf(this.#options.tls)));
  }

  async #guarded(work: () => Promise<Reloaded>): Promise<Reloaded> {
    const { log } = this.#options;
    if (this.#closed) return 'unchanged';
    try {
      return await this.#volume.run(work);
    } catch (error) {
      const why = error instanceof TlsFileError ? { file: error.file, problem: error.message } : { err: error };
      log.error(why, 'cannot load the new TLS files; keeping the previous ones');
      return 'refused';
    }
  }

  /** @param state - read before the files, so that the next check notices later changes */
  async #take(state: string): Promise<Reloaded> {
    const { tls, log } = this.#options;
    this.#state = state;
    const material = await readTlsFilesLater(tls);
    if (this.#closed || material.digest === this.#current.material.digest) return 'unchanged';
    const before = this.#current;
    this.#current = this.#open(material);
    this.#retire(before);
    const { fingerprint256, validTo } = material.certificate;
    log.info({ fingerprint: fingerprint256, valid_to: validTo }, 'new TLS certificates are in use');
    return 'reloaded';
  }

  /** Ends all connections. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const { timer } of this.#retired) clearTimeout(timer);
    for (const { app } of [...this.#retired.splice(0).map((one) => one.generation), this.#current]) app.close();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await this.#guarded(async () => {
      const state = await stateOf(this.#options.tls);
      return state === this.#state ? 'unchanged' : this.#take(state);
    });
    this.#isLooking = false;
  }

  #open(material: TlsMaterial): Generation {
    const { tls, acceptor, open, log } = this.#options;
    for (const warning of material.warnings) log.warn({ warning }, 'TLS warning');
    const transport = new TlsTransport(material.authorities, tls.clientCertificates === 'required');
    const app = open(transport);
    acceptor.addChildAppDescriptor(app.getDescriptor());
    return { app, transport, material };
  }

  #retire(generation: Generation): void {
    const { acceptor, leave, retiredMs = limits.retiredTlsMs } = this.#options;
    const { app, transport } = generation;
    acceptor.removeChildAppDescriptor(app.getDescriptor());
    const lostTrust = transport.retire(this.#current.material.authorities);
    // Transports that were retired earlier get the current authorities too.
    for (const one of this.#retired) {
      if (one.generation.transport.retire(this.#current.material.authorities)) leave(one.generation.transport);
    }
    if (lostTrust) leave(transport);
    const timer = setTimeout(() => this.#end(generation), retiredMs);
    timer.unref();
    this.#retired.push({ generation, timer });
    if (this.#retired.length > limits.maxRetiredTls) this.#end(this.#retired[0]!.generation);
  }

  /** Ends the connections of a retired app. WebSockets are closed first, with a close frame. */
  #end(generation: Generation): void {
    const index = this.#retired.findIndex((one) => one.generation === generation);
    const [retired] = this.#retired.splice(index, 1);
    clearTimeout(retired!.timer);
    this.#options.leave(generation.transport);
    setTimeout(() => generation.app.close(), leaveMs).unref();
  }
}
