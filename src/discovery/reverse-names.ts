import { Resolver } from 'node:dns/promises';
import { addressBytes, ipv4Of } from '../events/ip.ts';
import { limits } from '../limits.ts';
import { safeHostName } from './safe-text.ts';

/** Addresses that are asked for at once, and names that are kept of one. */
const maxAtOnce = 16;
const maxNames = 4;
/** Questions in a row to which no answer came: there is no name server, and no use in waiting for it again. */
const maxSilent = 16;

/** What hosts are called, as name servers say (PTR records), with limits on time and number. */
export class ReverseNames {
  readonly #resolver: Resolver;
  #asking = 0;
  #silent = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param servers - `address:port`; the system's by default */
  constructor(servers?: readonly string[], timeoutMs: number = limits.reverseNameTimeoutMs) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries: 1, maxTimeout: timeoutMs });
    if (servers !== undefined) this.#resolver.setServers(servers);
  }

  /** In lower case, without a final dot; none where there are none, or nobody answers. Never rejects. */
  async of(ip: string): Promise<string[]> {
    if (this.#asking >= maxAtOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#asking++;
    try {
      if (this.#silent >= maxSilent) return [];
      // `reverse` would call silence an unknown name.
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

  /** Ends the questions under way; they come to nothing. */
  cancel(): void {
    this.#silent = maxSilent;
    this.#resolver.cancel();
  }
}

/** RFC 1035, section 3.5; RFC 3596, section 2.5. */
export function reverseNameOf(ip: string): string {
  const bytes = addressBytes(ip);
  if (bytes === undefined) throw new Error(`${ip} is no address`);
  if (ipv4Of(bytes) >= 0) return `${[...bytes.subarray(12)].reverse().join('.')}.in-addr.arpa`;
  return `${[...Buffer.from(bytes).toString('hex')].reverse().join('.')}.ip6.arpa`;
}

function isSilence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ETIMEOUT' || code === 'ECONNREFUSED' || code === 'ECANCELLED';
}
