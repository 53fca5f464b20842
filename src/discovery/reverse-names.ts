import { Resolver } from 'node:dns/promises';
import { limits } from '../limits.ts';
import { addressBytes, ipv4Of } from '../net/ip.ts';
import { safeHostName } from './safe-text.ts';

/** Maximum concurrent lookups. */
const maxAtOnce = 16;
/** Maximum names per address. */
const maxNames = 4;
/** Consecutive lookups without a response after which the name server is considered absent. */
const maxSilent = 16;

/** Looks up host names of addresses (PTR records), with limits on time and number. */
export class ReverseNames {
  readonly #resolver: Resolver;
  #asking = 0;
  #silent = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param servers - `address:port`; defaults to the name servers of the system */
  constructor(servers?: readonly string[], timeoutMs: number = limits.reverseNameTimeoutMs) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries: 1, maxTimeout: timeoutMs });
    if (servers !== undefined) this.#resolver.setServers(servers);
  }

  /**
   * Returns the names in lower case without a trailing dot; empty for unknown names and without a response.
   * Never rejects.
   */
  async of(ip: string): Promise<string[]> {
    if (this.#asking >= maxAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#asking++;
    try {
      if (this.#silent >= maxSilent) return [];
      // `reverse` would report a timeout as an unknown name.
      const names = await this.#resolver.resolvePtr(reverseNameOf(ip));
      this.#silent = 0;
      return [...new Set(names.slice(0, 100).flatMap((name) => safeHostName(name) ?? []))].slice(0, maxNames);
    } catch (error) {
      if (isSilence(error)) this.#silent++;
      else this.#silent = 0;
      return [];
    } finally {
      this.#asking--;
      this.#waiting.shift()?.();
    }
  }

  /** Aborts lookups in progress; they return no names. */
  cancel(): void {
    this.#silent = maxSilent;
    this.#resolver.cancel();
  }
}

/** Returns the name for a reverse lookup (RFC 1035, section 3.5; RFC 3596, section 2.5). */
export function reverseNameOf(ip: string): string {
  const bytes = addressBytes(ip);
  if (bytes === undefined) throw new Error(`${ip} is not a valid address`);
  if (ipv4Of(bytes) >= 0) return `${[...bytes.subarray(12)].reverse().join('.')}.in-addr.arpa`;
  return `${[...Buffer.from(bytes).toString('hex')].reverse().join('.')}.ip6.arpa`;
}

function isSilence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ETIMEOUT' || code === 'ECONNREFUSED' || code === 'ECANCELLED';
}
