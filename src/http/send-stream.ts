import { STATUS_CODES } from 'node:http';
import { limits } from '../limits.ts';
import { Share } from './budget.ts';
import type { Chunks, Header, Rendered } from './reply.ts';
import type { Sending, SendOptions } from './send.ts';
import type { HttpResponse } from './uws.ts';

export interface StreamOptions extends SendOptions {
  /** The body could not be made to its end. The connection is cut: so the client sees that there is no end. */
  readonly onBroken: (error: unknown) => void;
}

/** An answer that is made while it is sent. */
export interface Streamed extends Omit<Rendered, 'body'> {
  readonly body: Chunks;
}

/**
 * Writes an answer of unknown length, in chunks (RFC 9112, section 7.1). A part is asked for once the one before has
 * been taken: with a client that does not read, one part waits here, counted, and nothing more is made.
 *
 * Clients that don't read are cut off: by uWebSockets.js after 10 s without progress, here when one part takes longer
 * than `limits.replyTimeoutMs`, at once when too much is waiting for all of them. The body is closed in any case.
 */
export function sendStream(
  res: HttpResponse,
  { status, headers, body }: Streamed,
  general: readonly Header[],
  options: StreamOptions,
  onDone: () => void,
): Sending {
  const share = new Share(options.unsent);
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let onTaken: (() => void) | undefined;
  const sending = {
    done: false,
    abort(): void {
      isOver = true;
      clearTimeout(timer);
      share.release();
      body.close();
      onTaken?.();
    },
  };

  const begin = (): void => {
    res.cork(() => {
      res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`);
      for (const [name, value] of [...general, ...headers]) res.writeHeader(name, value);
      if (!options.headOnly) return;
      // Without a length given, not even as undefined: it would be told as one.
      if (options.cut) res.end('', true);
      else res.endWithoutBody();
    });
  };
  const finish = (): void => {
    sending.abort();
    sending.done = true;
    onDone();
  };

  /** Resolves when the client has taken the part, or the answer is over. */
  const write = (part: Uint8Array): Promise<void> | undefined => {
    let taken = true;
    res.cork(() => {
      taken = res.write(part);
    });
    if (taken || isOver) return undefined;
    if (!share.growTo(part.byteLength)) {
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
    share.release();
    onTaken?.();
    return true;
  };

  const writeAll = async (): Promise<void> => {
    for (;;) {
      const part = await body.next();
      if (isOver) return;
      if (part === undefined) break;
      // An empty chunk would be the end.
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
