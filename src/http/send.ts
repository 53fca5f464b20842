import { type Budget, Reservation } from '../admission/budget.ts';
import { type LimitName, limits } from '../limits.ts';
import type { Chunks, Header, Rendered } from './reply.ts';
import { statusLine } from './status-line.ts';
import type { HttpResponse } from './uws.ts';

export interface SendOptions {
  /**
   * Whether the method of the request is HEAD. Only headers are then sent, with the length that the body
   * would have.
   */
  readonly headOnly: boolean;
  /**
   * Whether to close the connection after the response, because the rest of the request is not worth reading.
   */
  readonly cut: boolean;
  /** Limit on the bytes that clients have not read. */
  readonly unsent: Budget;
  readonly limitReached: (limit: LimitName) => void;
}

/** A response with a complete body. */
export interface Whole extends Omit<Rendered, 'body'> {
  readonly body: Exclude<Rendered['body'], Chunks>;
}

/** A response being sent. */
export interface Sending {
  /** Whether the last byte was passed to the socket, after which the response must not be used. */
  readonly done: boolean;
  /** Frees the resources of the response. Must be called when the connection is lost. */
  abort(): void;
}

/**
 * Writes a complete response. Bytes that the socket does not accept immediately are buffered (and counted in
 * the buffer limit), and written as the client reads; `onDone` is called when all bytes are written. Clients that
 * do not read are disconnected: by uWebSockets.js after 10 s without progress, here after
 * `limits.replyTimeoutMs`, and immediately when the bytes buffered for all clients together exceed the limit.
 */
export function send(
  res: HttpResponse,
  { status, headers, body }: Whole,
  general: readonly Header[],
  options: SendOptions,
  onDone: () => void,
): Sending {
  const reservation = new Reservation(options.unsent);
  let timer: NodeJS.Timeout | undefined;
  const sending = {
    done: false,
    abort(): void {
      clearTimeout(timer);
      reservation.release();
    },
  };
  const finish = (): void => {
    sending.abort();
    sending.done = true;
    onDone();
  };

  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const length = bytes?.byteLength ?? 0;
  let complete = true;
  res.cork(() => {
    res.writeStatus(statusLine(status));
    for (const [name, value] of general) res.writeHeader(name, value);
    for (const [name, value] of headers) res.writeHeader(name, value);
    if (options.cut) {
      res.end(options.headOnly ? '' : (bytes ?? ''), true);
    } else if (options.headOnly || bytes === undefined) {
      // `endWithoutBody` with a length would leave the response pending and break the next request on the
      // connection. With 204 and 304, a Content-Length would refer to a body that is not sent (RFC 9110,
      // section 8.6).
      if (status !== 204 && status !== 304) res.writeHeader('Content-Length', String(length));
      res.endWithoutBody();
    } else {
      const [, responded] = res.tryEnd(bytes, length);
      complete = responded;
    }
  });
  if (complete || bytes === undefined) {
    finish();
    return sending;
  }

  res.onWritable((offset) => {
    const [taken, responded] = res.tryEnd(bytes.subarray(offset), length);
    if (responded) finish();
    return taken;
  });
  // Closing here ends the response before `sending` is returned, so no resource may be left that `abort`
  // would have to free.
  if (!reservation.growTo(length - res.getWriteOffset())) {
    options.limitReached('maxUnsentReplyBytes');
    res.close();
    return sending;
  }
  timer = setTimeout(() => {
    options.limitReached('replyTimeoutMs');
    res.close();
  }, limits.replyTimeoutMs).unref();
  return sending;
}
