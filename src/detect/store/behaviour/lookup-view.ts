import type { EventBlock } from '../../../events/format/block.ts';
import type { AddressList } from '../../../events/format/column-readers.ts';
import { limits } from '../../../limits.ts';
import type { IsHome } from '../../../net/home-networks.ts';
import type { DnsLookup } from '../../behaviour/detector.ts';

/** A row of DNS events in the form that detectors use; `row` moves the view to another row. */
export class LookupView implements DnsLookup {
  seq = 0.5;
  time = 0.5;
  src = '';
  dst = '';
  srcHome = false;
  query = '';
  qtype: string | undefined;
  rcode = 0.5;

  readonly #isHome: IsHome;
  #block: EventBlock | undefined;
  #row = 0;
  /** Names of queries, cached by position in the block's lists. */
  #queries: (string | undefined)[] = [];
  #homes: (boolean | undefined)[] = [];
  readonly #address = new Uint8Array(16);

  constructor(isHome: IsHome) {
    this.#isHome = isHome;
  }

  get answers(): string | undefined {
    return this.#block?.texts('answers').text(this.#row);
  }

  begin(block: EventBlock): void {
    if (block === this.#block) return;
    this.#block = block;
    this.#queries = [];
    this.#homes = [];
  }

  row(row: number): void {
    const block = this.#block!;
    this.#row = row;
    this.seq = block.firstSeq + row;
    const received = block.numbers('received_at').at(row);
    this.time = Math.min(block.numbers('timestamp').at(row), received + limits.maxClockLeadMs);
    const srcs = block.addresses('src_ip');
    const code = srcs.code(row);
    this.src = srcs.list.text(code - 1);
    this.#homes[code] ??= this.#isAtHome(srcs.list, code - 1);
    this.srcHome = this.#homes[code];
    this.dst = block.addresses('dst_ip').text(row) ?? '';
    this.query = this.#queryAt(row);
    this.qtype = block.texts('qtype').text(row);
    this.rcode = block.numbers('rcode').at(row);
  }

  #isAtHome(list: AddressList, place: number): boolean {
    list.write(place, this.#address, 0);
    return this.#isHome(this.#address);
  }

  #queryAt(row: number): string {
    const queries = this.#block!.texts('query');
    const code = queries.code(row);
    if (code === 0) return '';
    this.#queries[code] ??= canonicalName(queries.list.text(code - 1));
    return this.#queries[code];
  }
}

/** Returns the name in lower case, without a final dot. */
function canonicalName(name: string): string {
  const lower = name.toLowerCase();
  return lower.endsWith('.') && lower.length > 1 ? lower.slice(0, -1) : lower;
}
