import type { Logger } from 'pino';
import { limits } from '../limits.ts';
import { VolumeTurns } from '../volume-turns.ts';
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

/** A uWebSockets.js app, as far as it matters here. */
export interface App {
  getDescriptor(): number;
  /** Ends all of its connections. */
  close(): unknown;
}

/** The app that listens, and gives each connection to one of its children, untouched. */
export interface Acceptor {
  addChildAppDescriptor(child: number): unknown;
  removeChildAppDescriptor(child: number): unknown;
}

export interface TlsListenerOptions {
  readonly tls: TlsOptions;
  readonly acceptor: Acceptor;
  /** Makes an app that serves over TLS with the files as they are now. Throws where they are of no use. */
  readonly open: (transport: TlsTransport) => App;
  /** Closes the sockets of these connections, with a word. */
  readonly leave: (transport: TlsTransport) => void;
  readonly log: Logger;
  /** Default: `limits.retiredTlsMs`. */
  readonly retiredMs?: number;
  /** How often the files are looked at. Default: 10 s. */
  readonly watchMs?: number;
  /** Guards against a volume of the files that hangs. */
  readonly turns?: VolumeTurns;
}

export type Reloaded = 'reloaded' | 'unchanged' | 'refused';

interface Generation {
  readonly app: App;
  readonly transport: TlsTransport;
  readonly material: TlsMaterial;
}

/** Frequent enough for whoever waits for a new certificate to be served; the files are only looked at, not read. */
const defaultWatchMs = 10_000;

/** What a socket that is told to leave needs to read it. */
const leaveMs = 1000;

/**
 * Serves over TLS, and takes new certificates without losing a connection: the socket that listens stays, and only the
 * app behind it is another.
 *
 * ```
 *   acceptor ──connection──▶ app of the newest files
 *                    ╌╌╌╌╌╌╌ app of the files before: its connections end with their next answer, at the latest after
 *                            `limits.retiredTlsMs`; sockets at that time, or at once where an authority lost its trust
 * ```
 *
 * An app cannot be told of new files, and one that listens anew would lose what waits to be accepted. Of an app that was
 * closed, uWebSockets.js keeps some 90 kB; certificates change every few weeks.
 */
export class TlsListener {
  readonly #options: TlsListenerOptions;
  readonly #retired: { readonly generation: Generation; readonly timer: NodeJS.Timeout }[] = [];
  readonly #watch: NodeJS.Timeout;
  readonly #turns: VolumeTurns;
  /** Of the files when they were last read after the start; the first look reads them again. */
  #state: string | undefined;
  #isLooking = false;
  #current: Generation;
  #closed = false;

  /** @throws TlsFileError for files that are of no use, `open`'s otherwise. */
  constructor(options: TlsListenerOptions) {
    this.#options = options;
    this.#turns = options.turns ?? new VolumeTurns('the volume of the TLS files');
    this.#current = this.#open(readTlsFiles(options.tls));
    this.#watch = setInterval(() => void this.#look(), options.watchMs ?? defaultWatchMs);
    this.#watch.unref();
  }

  /**
   * Reads the files again. Where they are of no use, everything stays as it is and the log names the file; connections
   * that come from now on get the new certificate otherwise.
   */
  reload(): Promise<Reloaded> {
    return this.#guarded(async () => this.#take(await stateOf(this.#options.tls)));
  }

  async #guarded(work: () => Promise<Reloaded>): Promise<Reloaded> {
    const { log } = this.#options;
    if (this.#closed) return 'unchanged';
    try {
      return await this.#turns.run(work);
    } catch (error) {
      const why =
        error instanceof TlsFileError ? { file: error.file, problem: error.message } : { err: error };
      log.error(why, 'the TLS files cannot be used; those of before stay in use');
      return 'refused';
    }
  }

  /** @param state - from before they are read, so that later changes are seen the next time */
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
    for (const { app } of [...this.#retired.splice(0).map((one) => one.generation), this.#current])
      app.close();
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
    for (const warning of material.warnings) log.warn({ warning }, 'TLS: something to look at');
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
    // Those that were retired before have the authorities of today too.
    for (const one of this.#retired) {
      if (one.generation.transport.retire(this.#current.material.authorities))
        leave(one.generation.transport);
    }
    if (lostTrust) leave(transport);
    const timer = setTimeout(() => this.#end(generation), retiredMs);
    timer.unref();
    this.#retired.push({ generation, timer });
    if (this.#retired.length > limits.maxRetiredTls) this.#end(this.#retired[0]!.generation);
  }

  /** Sockets first: they are told why. */
  #end(generation: Generation): void {
    const index = this.#retired.findIndex((one) => one.generation === generation);
    const [retired] = this.#retired.splice(index, 1);
    clearTimeout(retired!.timer);
    this.#options.leave(generation.transport);
    setTimeout(() => generation.app.close(), leaveMs).unref();
  }
}
