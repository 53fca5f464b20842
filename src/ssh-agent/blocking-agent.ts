import { once } from 'node:events';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { limits } from '../limits.ts';
import { workerUrl } from '../rpc/worker-url.ts';
import { AgentError } from './wire.ts';

export interface BlockingAgentData {
  readonly path: string;
  readonly timeoutMs: number;
  readonly port: MessagePort;
  /** One cell with the number of the last answered request. */
  readonly answered: Int32Array<SharedArrayBuffer>;
}

export interface SignOrder {
  readonly seq: number;
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
}

export type SignAnswer = { readonly seq: number } & ({ readonly signature: Uint8Array } | { readonly error: string });

/**
 * Signs with an ssh-agent while blocking the calling thread. A separate thread owns the socket; the caller
 * blocks on a shared cell until that thread has a response or the timeout has passed. A commit of the log
 * signs its head this way, so that nothing runs between computing the root and signing it.
 */
export class BlockingAgent {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #answered: Int32Array<SharedArrayBuffer>;
  readonly #timeoutMs: number;
  #seq = 0;

  private constructor(worker: Worker, data: BlockingAgentData, port: MessagePort) {
    this.#worker = worker;
    this.#port = port;
    this.#answered = data.answered;
    this.#timeoutMs = data.timeoutMs;
  }

  /** Resolves once the thread accepts requests; the agent itself may be unreachable. */
  static async start(path: string, timeoutMs: number): Promise<BlockingAgent> {
    const { port1, port2 } = new MessageChannel();
    const data = { path, timeoutMs, port: port2, answered: new Int32Array(new SharedArrayBuffer(4)) };
    const worker = new Worker(workerUrl('ssh-agent'), {
      name: 'ssh-agent',
      workerData: data satisfies BlockingAgentData,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
    await once(worker, 'message');
    worker.unref();
    return new BlockingAgent(worker, data, port1);
  }

  /**
   * Signs a message. Returns 64 bytes, not verified.
   *
   * @throws AgentError
   */
  sign(publicKey: Uint8Array, message: Uint8Array): Uint8Array {
    const seq = ++this.#seq;
    this.#port.postMessage({ seq, publicKey, message } satisfies SignOrder);
    // The thread has its own timeout; the grace period covers the transfer of its response.
    const deadline = performance.now() + this.#timeoutMs + limits.signerGraceMs;
    for (;;) {
      const before = Atomics.load(this.#answered, 0);
      const answer = this.#takeAnswer(seq);
      if (answer !== undefined) {
        if ('error' in answer) throw new AgentError(answer.error);
        return answer.signature;
      }
      const left = deadline - performance.now();
      if (left <= 0 || Atomics.wait(this.#answered, 0, before, left) === 'timed-out')
        throw new AgentError(`the ssh-agent did not respond within ${this.#timeoutMs} ms`);
    }
  }

  async close(): Promise<void> {
    this.#port.close();
    await this.#worker.terminate();
  }

  /**
   * Returns the response to a request; undefined if it has not arrived. Drops responses to earlier requests, which
   * timed out.
   */
  #takeAnswer(seq: number): SignAnswer | undefined {
    for (;;) {
      const taken = receiveMessageOnPort(this.#port);
      if (taken === undefined) return undefined;
      const answer = taken.message as SignAnswer;
      if (answer.seq === seq) return answer;
    }
  }
}
