import { type Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { assertResponse, assertServerMessage } from '../../scripts/contract-assertions.ts';
import { wholeListTypes } from '../../src/contract/whole-list.ts';
import { errorCodes } from '../../src/errors.ts';
import { readFrames } from './frames.ts';
import type { Packet } from './packets.ts';
import type { FuzzRequest } from './requests.ts';

/** The name of an outcome: the status of a response, the close code of a WebSocket, or a broken connection. */
export type Outcome = string;

/** Timeout for a response, longer than any time limit of the service. */
const answerMs = 60_000;
const maxAnswerBytes = 4 * 2 ** 20;
const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};
/** Response types without a schema in the contract. */
const unchecked = new Set<string>([wholeListTypes.arrow, 'application/x-protobuf', 'text/html; charset=utf-8']);

/** Errors of a connection that the service closed. */
const byDesign: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/** Sends a request and checks its response against the contract. @throws Error for a faulty response */
export async function exchange(url: string, agent: Agent, asked: FuzzRequest): Promise<[Outcome, string]> {
  const answer = await send(url, agent, asked);
  if (answer === undefined) return ['no answer', ''];
  const { status, type, body } = answer;
  if (asked.method === 'HEAD' || asked.method === 'OPTIONS' || body === undefined) return [`${status}`, ''];
  const text = body.toString();
  const isBytes = type === 'application/octet-stream';
  const read: unknown = isBytes ? new Uint8Array(body) : type.startsWith('application/json') ? JSON.parse(text) : text;
  if (!unchecked.has(type) && asked.headers.accept !== 'text/html') assertResponse(asked.operation, status, read);
  if (status >= 500) return [outcomeOfError(status, text), text];
  return [`${status}`, text];
}

/**
 * Returns the outcome of an error. Only failures that clients can retry are expected here: any other server error is a
 * bug.
 */
function outcomeOfError(status: number, text: string): Outcome {
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? '';
  const isKnown = Object.entries(errorCodes).some(([name, one]) => name === code && one.retry);
  if (status !== 503 || (code !== '' && (!isKnown || code === 'WORKER_LOST')))
    throw new Error(`answered ${status}: ${text}`);
  return `503 ${code}`;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  /** The body; undefined if it is longer than the fuzzer reads. */
  readonly body: Buffer | undefined;
}

function send(url: string, agent: Agent, { method, target, headers, body }: FuzzRequest): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': body.length };
    const sending = request(`${url}${target}`, { method, agent, headers: { ...headers, ...length } }, (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      const { statusCode: status = 0 } = response;
      const type = response.headers['content-type'] ?? '';
      response.on('data', (part: Buffer) => {
        size += part.length;
        if (size <= maxAnswerBytes) parts.push(part);
        else response.destroy();
      });
      const inflate = decoders[response.headers['content-encoding'] ?? ''];
      const settle = () => {
        const body = size <= maxAnswerBytes ? Buffer.concat(parts) : undefined;
        try {
          const isCoded = body !== undefined && body.length > 0 && inflate !== undefined;
          resolve({ status, type, body: isCoded ? inflate(body) : body });
        } catch (error) {
          reject(error);
        }
      };
      response.on('end', settle).on('close', settle).on('error', settle);
    });
    sending.setTimeout(answerMs, () => {
      reject(new Error(`no answer within ${answerMs} ms`));
      sending.destroy();
    });
    sending.on('error', (error: NodeJS.ErrnoException) => {
      // The service closes idle connections, even when the next request is on its way.
      if (sending.reusedSocket && error.code !== undefined && byDesign.has(error.code)) resolve(undefined);
      else reject(new Error(`no answer: ${error.code ?? error.message}`));
    });
    sending.end(body);
  });
}

/** Sends a packet. Resolves with the statuses of its responses. @throws Error for a faulty response */
export async function sendPacket(port: number, packet: Packet): Promise<Outcome[]> {
  const received = await withSocket(port, async (socket) => {
    for (const part of packet.parts) {
      if (socket.destroyed) break;
      socket.write(part);
      if (packet.parts.length > 1) await pause(20);
    }
    if (packet.end === 'half-close') socket.end();
    if (packet.end === 'reset') socket.resetAndDestroy();
    if (packet.end === 'close') socket.destroy();
    await quiet(socket);
  });
  const statuses = [...received.toString('latin1').matchAll(/(?:^|\}|\n)HTTP\/1\.1 (\d{3})/g)].map(
    ([, status]) => `${status}`,
  );
  const wrong = statuses.filter((status) => /^5(?!03|05)/.test(status) || (packet.ambiguous && status.startsWith('2')));
  if (wrong.length > 0) throw new Error(`answered ${statuses}`);
  return statuses.length === 0 ? ['closed'] : statuses;
}

/**
 * Upgrades and sends frames; `early` frames are in the packet of the upgrade.
 *
 * @throws Error for a message that is not in the contract
 */
export async function sendFrames(
  port: number,
  upgrade: string,
  frames: readonly Buffer[],
  early: boolean,
): Promise<Outcome[]> {
  const received = await withSocket(port, async (socket) => {
    if (early) socket.write(Buffer.concat([Buffer.from(upgrade), ...frames]));
    else socket.write(upgrade);
    await new Promise((resolve) => {
      for (const event of ['data', 'end', 'close']) socket.once(event, resolve);
    });
    for (const bytes of frames) {
      if (early || socket.destroyed) break;
      socket.write(bytes);
      await pause(5);
    }
    await quiet(socket);
  });
  const head = received.indexOf('\r\n\r\n') + 4;
  const status = received.toString('latin1', 9, 12);
  if (status !== '101') {
    if (/^5(?!03|05)/.test(status)) throw new Error(`upgrade answered ${received.toString('latin1')}`);
    return [status === '' ? 'closed' : status];
  }
  const { texts, closed } = readFrames(received.subarray(head));
  const types = texts.map((text) => {
    const message = JSON.parse(text) as { type: string; error?: { code: string } };
    assertServerMessage(message);
    if (message.error?.code === 'INTERNAL') throw new Error(`sent ${text}`);
    return message.type;
  });
  return [...types, `closed ${closed ?? 'without a code'}`];
}

/** Returns the bytes received on a connection during the work. */
async function withSocket(port: number, work: (socket: Socket) => Promise<void>): Promise<Buffer> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part)).on('error', () => undefined);
  await work(socket);
  socket.destroy();
  return Buffer.concat(parts);
}

/** Resolves when no more data seems to arrive. */
async function quiet(socket: Socket): Promise<void> {
  const deadline = performance.now() + 2000;
  for (let last = -1; !socket.destroyed && performance.now() < deadline; last = socket.bytesRead) {
    if (last === socket.bytesRead && (last > 0 || socket.readableEnded)) return;
    await pause(150);
  }
}
