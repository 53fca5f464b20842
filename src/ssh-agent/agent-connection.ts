import { connect, type Socket } from 'node:net';
import { SerialQueue } from '../files/serial-queue.ts';
import {
  AgentError,
  frameLength,
  type Identity,
  identitiesRequest,
  readIdentities,
  readSignature,
  signRequest,
} from './wire.ts';

/**
 * A connection to an ssh-agent, opened on demand and reopened after a failure. Requests run one at a time. A failed
 * request closes the connection, because later responses could not be matched to requests. Queued requests fail
 * together with the failed request, so that an agent that hangs costs one timeout rather than one per request.
 */
export class AgentConnection {
  readonly #path: string;
  readonly #timeoutMs: number;
  #socket: Socket | undefined;
  readonly #queue = new SerialQueue();
  #lastFailure: AgentError | undefined;
  #failures = 0;

  constructor(path: string, timeoutMs: number) {
    this.#path = path;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Lists the plain Ed25519 keys of the agent.
   *
   * @throws AgentError
   */
  async identities(): Promise<Identity[]> {
    return readIdentities(await this.#request(identitiesRequest()));
  }

  /**
   * Signs a message. Returns 64 bytes, not verified.
   *
   * @throws AgentError
   */
  async sign(publicKey: Uint8Array, message: Uint8Array): Promise<Uint8Array> {
    return readSignature(await this.#request(signRequest(publicKey, message)));
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #request(frame: Uint8Array): Promise<Uint8Array> {
    const failuresBefore = this.#failures;
    return this.#queue.run(() => {
      if (this.#failures !== failuresBefore) throw this.#lastFailure;
      return this.#exchange(frame);
    });
  }

  /** Sends a frame and returns the body of the response. */
  async #exchange(frame: Uint8Array): Promise<Uint8Array> {
    this.#socket ??= this.#connect();
    try {
      return await answerOf(this.#socket, frame, this.#timeoutMs);
    } catch (error) {
      this.close();
      this.#failures++;
      this.#lastFailure = toAgentError(error, this.#path);
      throw this.#lastFailure;
    }
  }

  /** Opens a connection. If it ends, or receives bytes without a pending request, it is not used again. */
  #connect(): Socket {
    const socket = connect(this.#path);
    socket.unref();
    const drop = () => {
      socket.destroy();
      if (this.#socket === socket) this.#socket = undefined;
    };
    socket.on('error', drop).on('end', drop).on('close', drop);
    socket.on('data', () => {
      if (socket.listenerCount('data') === 1) drop();
    });
    return socket;
  }
}

function answerOf(socket: Socket, frame: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      try {
        const length = frameLength(received);
        if (length === undefined || received.length < length) return;
        if (received.length > length) throw new AgentError('the ssh-agent sent bytes after its message');
        settle(() => resolve(new Uint8Array(received.subarray(4))));
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onError = (error: Error) => settle(() => reject(error));
    const onClose = () => settle(() => reject(new AgentError('the ssh-agent closed the connection')));
    const timer = setTimeout(
      () => settle(() => reject(new AgentError(`the ssh-agent did not respond within ${timeoutMs} ms`))),
      timeoutMs,
    );
    const settle = (end: () => void) => {
      clearTimeout(timer);
      socket.off('data', onData).off('error', onError).off('end', onClose).off('close', onClose);
      end();
    };
    socket.on('data', onData).on('error', onError).on('end', onClose).on('close', onClose);
    socket.write(frame);
  });
}

function toAgentError(error: unknown, path: string): AgentError {
  if (error instanceof AgentError) return error;
  const { code = String(error) } = error as NodeJS.ErrnoException;
  return new AgentError(`cannot connect to the ssh-agent at ${path} (${code})`);
}
