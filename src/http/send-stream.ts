import { Reservation } from '../admission/budget.ts';
import { limits } from '../limits.ts';
import type { Chunks, Header, Rendered } from './reply.ts';
import type { Sending, SendOptions } from './send.ts';
import { statusLine } from './status-line.ts';
import type { HttpResponse } from './uws.ts';

export interface StreamOptions extends SendOptions {
  /** Called when the body fails before its end. The connection is closed, so that the client notices. */
  readonly onBroken: (error: unknown) => void;
}

/** A response whose body is produced while it is sent. */
export interface Streamed extends Omit<Rendered, 'body'> {
  readonly body: Chunks;
}

/**
 * Writes a response of unknown length in chunks (RFC 9112, section 7.1). Each part is requested when the
 * client has received the previous part. If a client does not read, only one part is buffered (and counted in
 * the buffer limit), and no further parts are produced.
 *
 * Clients that do not read are disconnected: by uWebSockets.js after 10 s without progress, here when one
 * part takes longer than `limits.replyTimeoutMs`, and immediately when too many bytes are buffered for all
 * clients together. The body is closed in any case.
 */
export function sendStream(
  res: HttpResponse,
  { status, headers, body }: Streamed,
  general: readonly Header[],
  options: StreamOptions,
  onDone: () => void,
): Sending {
  const reservation = new Reservation(options.unsent);
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let onTaken: (() => void) | undefined;
  const sending = {
    done: false,
    abort(): void {
      isOver = true;
      clearTimeout(timer);
      reservation.release();
      body.close();
      onTaken?.();
    },
  };

  const begin = (): void => {
    res.cork(() => {
      res.writeStatus(statusLine(status));
      for (const [name, value] of [...general, ...headers]) res.writeHeader(name, value);
      if (!options.headOnly) return;
      // `endWithoutBody` is called without an argument, because even undefined would be sent as a length.
      if (options.cut) res.end('', true);
      else res.endWithoutBody();
    });
  };
  const finish = (): void => {
    sending.abort();
    sending.done = true;
    onDone();
  };

  /**
   * Writes a part. The promise resolves when the client has received the part, or when the response has
   * ended; it is undefined if there is no need to wait.
   */
  const write = (part: Uint8Array): Promise<void> | undefined => {
    let taken = true;
    res.cork(() => {
      taken = res.write(part);
    });
    if (taken || isOver) return undefined;
    if (!reservation.growTo(part.byteLength)) {
      options.limitReached('maxUnsentReplyBytes');
      res.close();
      return undefined;
    }
    timer = setTimeout(() => {
      options.limitReached('replyTimeoutMs');
      res.close();
    }, limits.replyTimeoutMs).unref();
    return new Promise((resolve) => {
      onTaken = resolve;
    });
  };
  const taken = (): boolean => {
    clearTimeout(timer);
    reservation.release();
    onTaken?.();
    return true;
  };

  const writeAll = async (): Promise<void> => {
    for (;;) {
      const part = await body.next();
      if (isOver) return;
      if (part === undefined) break;
      // An empty chunk would end the response.
      if (part.byteLength > 0) await write(part);
      if (isOver) return;
    }
    res.cork(() => res.end('', options.cut));
    finish();
  };

  begin();
  if (options.headOnly) {
    finish();
    return sending;
  }
  res.onWritable(taken);
  writeAll().catch((error: unknown) => {
    if (isOver) return;
    options.onBroken(error);
    res.close();
  });
  return sending;
}
