import { randomBytes, type X509Certificate } from 'node:crypto';
import type { Logger } from 'pino';
import { checkpointTimestamped, entryOf } from '../contract/critical-events.ts';
import type { EntryData } from '../contract/resources/log-entry-data.ts';
import { sha256 } from '../crypto/sha256.ts';
import { ServiceError } from '../errors.ts';
import type { Ledger, LedgerFinding } from '../ledger/ledger.ts';
import { limits } from '../limits.ts';
import { bytesToHex } from '../tlog/hex.ts';
import { askAuthority } from './ask.ts';
import { timestampRequest, tokenOf } from './request.ts';
import { TimestampError } from './timestamp-error.ts';
import { verifyToken } from './token.ts';

export interface TimestamperOptions {
  readonly ledger: Pick<Ledger, 'append' | 'entries'>;
  /** Returns the published checkpoint. */
  readonly checkpoint: () => Promise<string>;
  /** URLs of the authorities. */
  readonly authorities: readonly string[];
  /** Trusted certificates, one of which must vouch for the authority's; if undefined, any certificate is accepted. */
  readonly trusted: readonly X509Certificate[] | undefined;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Pauses after failures. Default: limits.minTimestampPauseMs and limits.maxTimestampPauseMs. */
  readonly pauseMs?: { readonly min: number; readonly max: number };
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number;
  readonly newId: () => string;
}

interface AuthorityState {
  readonly url: string;
  pauseMs: number;
  /** Time of the first failure, and reason for the last failure, since the last success. */
  failing?: { readonly since: number; reason: string } | undefined;
  timer?: NodeJS.Timeout;
}

/** Size of the nonce that ties a response to its request. */
const nonceBytes = 8;
/** Maximum bytes of an entry without its data: ids, times, key, signature. */
const entryOverheadBytes = 2048;

/**
 * Requests a timestamp of the published checkpoint (RFC 3161) from every authority once per interval, and appends each
 * token to the log as an entry of kind checkpoint.timestamped.
 *
 * Authorities are queried independently, and no other work waits for them. After a failure, the pause doubles. An
 * authority that has failed for a complete interval opens the finding timestamp_unavailable; a success closes it.
 */
export class Timestamper {
  readonly #options: TimestamperOptions;
  readonly #authorities: readonly AuthorityState[];
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<void>>();

  private constructor(options: TimestamperOptions) {
    this.#options = options;
    this.#authorities = options.authorities.map((url) => ({ url, pauseMs: 0 }));
  }

  /** Continues from the timestamps in the log, so that a restart does not repeat a request. */
  static async start(options: TimestamperOptions): Promise<Timestamper> {
    const timestamper = new Timestamper(options);
    const last = await lastTimes(options.ledger);
    for (const authority of timestamper.#authorities) {
      const due = (last.get(authority.url) ?? 0) + options.intervalMs;
      timestamper.#schedule(authority, Math.min(options.intervalMs, Math.max(0, due - options.now())));
    }
    return timestamper;
  }

  /** Returns the finding about authorities that have failed for a complete interval. */
  findings(): LedgerFinding[] {
    const { now, intervalMs } = this.#options;
    const late = this.#authorities.flatMap(({ url, failing }) =>
      failing !== undefined && now() - failing.since >= intervalMs ? [{ url, ...failing }] : [],
    );
    if (late.length === 0) return [];
    const message = late.map(({ url, reason }) => `${url}: ${reason}`).join('; ');
    const since = new Date(Math.min(...late.map((one) => one.since))).toISOString();
    return [{ code: 'timestamp_unavailable', message, since }];
  }

  /** Aborts requests in progress. */
  async close(): Promise<void> {
    this.#stop.abort();
    for (const { timer } of this.#authorities) clearTimeout(timer);
    await Promise.all(this.#running);
  }

  #schedule(authority: AuthorityState, inMs: number): void {
    if (this.#stop.signal.aborted) return;
    authority.timer = setTimeout(() => {
      const work = this.#attempt(authority).finally(() => this.#running.delete(work));
      this.#running.add(work);
    }, inMs);
  }

  async #attempt(authority: AuthorityState): Promise<void> {
    const { intervalMs, log, pauseMs } = this.#options;
    try {
      const result = await this.#timestamp(authority.url);
      authority.pauseMs = 0;
      authority.failing = undefined;
      log.info({ authority: authority.url, ...result }, 'timestamped the checkpoint');
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const { min = limits.minTimestampPauseMs, max = limits.maxTimestampPauseMs } = pauseMs ?? {};
      // An empty log has no checkpoint, which is not a failure.
      const isEmpty = error instanceof ServiceError && error.code === 'LOG_EMPTY';
      authority.pauseMs = isEmpty ? min : Math.min(max, Math.max(min, 2 * authority.pauseMs));
      if (!isEmpty) this.#failed(authority, error);
    }
    this.#schedule(authority, authority.pauseMs === 0 ? intervalMs : authority.pauseMs);
  }

  async #timestamp(authority: string): Promise<{ leaf_index: number; gen_time: string }> {
    const { checkpoint: published, ledger, trusted, timeoutMs, now, newId } = this.#options;
    const checkpoint = await published();
    const hash = sha256(new TextEncoder().encode(checkpoint));
    const nonce = new Uint8Array(randomBytes(nonceBytes));
    const request = timestampRequest(hash, nonce);
    const answer = await askAuthority({ url: authority, request, timeoutMs, signal: this.#stop.signal });
    const token = tokenOf(answer);
    const { genTimeMs } = verifyToken(token, { sha256: hash, nonce }, trusted);
    const gen_time = new Date(genTimeMs).toISOString();
    const base64 = Buffer.from(token).toString('base64');
    const data = { authority, gen_time, checkpoint, checkpoint_sha256: bytesToHex(hash), token: base64 };
    const dataBytes = Buffer.byteLength(JSON.stringify(data));
    const maxDataBytes = limits.maxEntryBytes - entryOverheadBytes;
    if (dataBytes > maxDataBytes)
      throw new TimestampError(
        'too_large',
        `token and checkpoint must fit into ${maxDataBytes} bytes (got ${dataBytes})`,
      );
    const [appended] = await ledger.append([entryOf(checkpointTimestamped(data), newId(), now())]);
    return { leaf_index: appended!.leaf_index, gen_time };
  }

  #failed(authority: AuthorityState, error: unknown): void {
    const { now, log } = this.#options;
    const code = error instanceof TimestampError ? error.fault : 'unavailable';
    const reason = `${code}: ${error instanceof Error ? error.message : String(error)}`;
    if (authority.failing?.reason !== reason)
      log.warn({ authority: authority.url, err: error }, 'cannot timestamp the checkpoint');
    authority.failing = { since: authority.failing?.since ?? now(), reason };
  }
}

/** Returns the time of the last timestamp of each authority in epoch milliseconds; empty if the log can't be read. */
async function lastTimes(ledger: Pick<Ledger, 'entries'>): Promise<Map<string, number>> {
  const query = { kinds: ['checkpoint.timestamped'], per_page: limits.nearbyTimestamps };
  try {
    const { total } = await ledger.entries({ ...query, page: 1, per_page: 1 });
    const last = Math.max(1, Math.ceil(total / query.per_page));
    const times = new Map<string, number>();
    // The last page may have a single entry, so the full page before the last is read too.
    for (let page = Math.max(1, last - 1); page <= last; page++) {
      const { leaves } = await ledger.entries({ ...query, page });
      for (const { canonical } of leaves) {
        const { data } = JSON.parse(Buffer.from(canonical).toString('utf8')) as {
          data: Partial<EntryData<'checkpoint.timestamped'>>;
        };
        if (data.authority !== undefined && data.gen_time !== undefined)
          times.set(data.authority, Date.parse(data.gen_time));
      }
    }
    return times;
  } catch (error) {
    if (error instanceof ServiceError) return new Map();
    throw error;
  }
}
