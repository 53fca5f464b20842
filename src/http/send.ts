import { STATUS_CODES } from 'node:http';
import { type LimitName, limits } from '../limits.ts';
import { type Budget, Share } from './budget.ts';
import type { Chunks, Header, Rendered } from './reply.ts';
import type { HttpResponse } from './uws.ts';

export interface SendOptions {
  /** The request was HEAD: headers only, with the length that the body would have. */
  readonly headOnly: boolean;
  /** Close the connection behind the answer, because what follows on it is not worth reading. */
  readonly cut: boolean;
  /** Bytes that clients have not read. */
  readonly unsent: Budget;
  readonly limitReached: (limit: LimitName) => void;
}

/** An answer whose body is there. */
export interface Whole extends Omit<Rendered, 'body'> {
  readonly body: Exclude<Rendered['body'], Chunks>;
}

/** An answer on its way out. */
export interface Sending {
  /** True once the last byte was handed over; the response may not be touched any more. */
  readonly done: boolean;
  /** To be called when the connection is lost: gives back what the answer holds. */
  abort(): void;
}

/**
 * Writes a whole answer. What the socket does not take at once waits here, counted, and is written as the client
 * reads; `onDone` is called when all of it is out. Clients that do not read are cut off: by uWebSockets.js after 10 s
 * without progress, here after `limits.replyTimeoutMs`, at once when too much is waiting for all of them.
 */
export function send(
  res: HttpResponse,
  { status, headers, body }: Whole,
  general: readonly Header[],
  options: SendOptions,
  onDone: () => void,
): Sending {
  const share = new Share(options.unsent);
  let timer: NodeJS.Timeout | undefined;
  const sending = {
    done: false,
    abort(): void {
      clearTimeout(timer);
      share.release();
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
    res.writeStatus(`${status} ${STATUS_CODES[status] ?? 'Unknown'}`);
    for (const [name, value] of general) res.writeHeader(name, value);
    for (const [name, value] of headers) res.writeHeader(name, value);
    if (options.cut) {
      res.end(options.headOnly ? '' : (bytes ?? ''), true);
    } else if (options.headOnly || bytes === undefined) {
      // endWithoutBody with a length would leave the response pending and kill the connection's next request.
      // With 204 and 304 a length would be one of what is not sent (RFC 9110, section 8.6).
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
  // Closed here, the answer is over before its caller has it: nothing may be left that would have to be aborted.
  if (!share.growTo(length - res.getWriteOffset())) {
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
