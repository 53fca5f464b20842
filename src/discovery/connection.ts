import { connect as connectTcp, type Socket } from 'node:net';
import { limits } from '../limits.ts';

/** Outcome of one probe. `busy`: this machine has no free socket, and no probe was sent. */
export type Connected =
  | { readonly outcome: 'open'; readonly socket: Socket }
  | { readonly outcome: 'closed' | 'filtered' | 'busy' };

/**
 * Owns the sockets of one scan: `destroyAll` closes all of them and prevents new connections.
 */
export class Connections {
  readonly #open = new Set<{ destroy(): unknown }>();
  readonly #timeoutMs: number;
  #ended = false;

  constructor(timeoutMs: number = limits.scanConnectTimeoutMs) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Connects to a port. `closed`: the connection was refused; `filtered`: no response, or the host is
   * unreachable. The socket is paused, and the caller must destroy it. Never rejects.
   */
  connect(host: string, port: number): Promise<Connected> {
    if (this.#ended) return Promise.resolve({ outcome: 'filtered' });
    const socket = connectTcp({ host, port, noDelay: true });
    this.adopt(socket);
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => socket.destroy(), this.#timeoutMs);
      const settle = (connected: Connected): void => {
        clearTimeout(giveUp);
        if (connected.outcome !== 'open') socket.destroy();
        resolve(connected);
      };
      socket.once('connect', () => {
        socket.pause();
        settle(toItself(socket) ? { outcome: 'closed' } : { outcome: 'open', socket });
      });
      socket.on('error', (error: NodeJS.ErrnoException) => settle({ outcome: outcomeOf(error.code) }));
      socket.once('close', () => settle({ outcome: 'filtered' }));
    });
  }

  /** Takes ownership of a stream, such as a TLS stream around a socket. */
  adopt<S extends { destroy(): unknown; once(event: 'close', listener: () => void): unknown }>(socket: S): S {
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
    if (this.#ended) socket.destroy();
    return socket;
  }

  destroyAll(): void {
    this.#ended = true;
    for (const socket of this.#open) socket.destroy();
  }
}

/**
 * Returns whether a socket is connected to itself: without a listener, a TCP socket connects to itself if its
 * local port is the target port (RFC 9293, section 3.5, figure 7).
 */
function toItself({ localPort, localAddress, remotePort, remoteAddress }: Socket): boolean {
  return localPort === remotePort && localAddress === remoteAddress;
}

const outcomes: Readonly<Record<string, 'closed' | 'busy'>> = {
  ECONNREFUSED: 'closed',
  ECONNRESET: 'closed',
  EMFILE: 'busy',
  ENFILE: 'busy',
  ENOBUFS: 'busy',
  ENOMEM: 'busy',
};

function outcomeOf(code: string | undefined): 'closed' | 'busy' | 'filtered' {
  return (code !== undefined && Object.hasOwn(outcomes, code) ? outcomes[code] : undefined) ?? 'filtered';
}
