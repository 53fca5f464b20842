import { type Supervised, supervise } from '../rpc/supervise.ts';
import { workerUrl } from '../rpc/worker-url.ts';
import { type Scanner, scannerMethods } from './scanner.ts';
import type { ScannerThread } from './scans.ts';

/**
 * The scanner thread, which exists only while there are scans. A crash of the thread fails the scan but not
 * the service.
 */
export class ScannerThreads {
  #running: Supervised<Scanner> | undefined;
  readonly #onLost: (error: Error) => void;

  constructor(onLost: (error: Error) => void) {
    this.#onLost = onLost;
  }

  /** The running thread, if any. */
  get running(): Supervised<Scanner> | undefined {
    return this.#running;
  }

  /** Starts a thread; the previous one must be closed. */
  async open(): Promise<ScannerThread> {
    const thread = await supervise<Scanner>({
      name: 'discovery',
      url: workerUrl('discovery'),
      list: scannerMethods,
      workerData: undefined,
      maxOldGenerationMb: 256,
      onRestart: this.#onLost,
      onGiveUp: this.#onLost,
    });
    this.#running = thread;
    return {
      api: thread.api,
      close: () => {
        this.#running = undefined;
        return thread.close();
      },
    };
  }
}
