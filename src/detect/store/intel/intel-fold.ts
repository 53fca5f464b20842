import type { FindingSink } from '../../../alerts/store/pending-findings.ts';
import { omitUndefined } from '../../../database/omit-undefined.ts';
import type { EventBlock } from '../../../events/format/block.ts';
import { rowId } from '../../../events/resource.ts';
import type { FlowConsumer, FlowFact } from '../../../inventory/model/seen.ts';
import { limits } from '../../../limits.ts';
import { type IntelContact, intelFinding } from '../../intel/intel-finding.ts';
import type { IntelHit, IntelMatcher } from '../../intel/intel-matcher.ts';
import type { Intel } from './intel.ts';

interface IntelFoldOptions {
  readonly intel: Intel;
  readonly found: FindingSink;
}

/**
 * Matches stored events against the lists of known-bad addresses and domains, as the events are processed.
 *
 * Each address and name of a block is looked up once. A connection is reported once, and again after the responder
 * answers. Home addresses are ignored, even if lists contain them.
 */
export class IntelFold implements FlowConsumer {
  readonly #options: IntelFoldOptions;
  readonly #matcher: IntelMatcher;
  readonly #srcs: Named;
  readonly #dsts: Named;
  readonly #queries: Named;
  readonly #answers: Named;
  #block: EventBlock | undefined;
  #row = 0;

  constructor(options: IntelFoldOptions) {
    this.#options = options;
    this.#matcher = options.intel.matcher;
    const isAddress = (text: string) => this.#matcher.namesAddress(text);
    this.#srcs = new Named(isAddress);
    this.#dsts = new Named(isAddress);
    const isName = (text: string) => this.#matcher.namesDomain(text);
    this.#queries = new Named(isName);
    this.#answers = new Named((json) => answersIn(json).some((data) => isAddress(data) || isName(data)));
  }

  begin(block: EventBlock, from: number): void {
    this.#block = block;
    this.#row = from;
    this.#srcs.begin(block, this.#matcher.version);
    this.#dsts.begin(block, this.#matcher.version);
  }

  flow(fact: Readonly<FlowFact>): void {
    const row = this.#row++;
    if (this.#matcher.isEmpty || !(fact.isFirst || fact.isFirstAnswered)) return;
    const { srcs, dsts, src, dst, srcHome, dstHome } = fact;
    const isBadDst = !dstHome && this.#dsts.has(dsts, dst);
    const isBadSrc = !srcHome && this.#srcs.has(srcs, src);
    if (!isBadDst && !isBadSrc) return;
    const block = this.#block!;
    const timestamp = timeOf(block, row, fact.first);
    const hit = (bad: string, isBad: boolean) => (isBad ? this.#matcher.addressHit(bad, timestamp) : undefined);
    const src_ip = srcs.text(src);
    const dst_ip = dsts.text(dst);
    const ofDst = hit(dst_ip, isBadDst);
    const found = ofDst ?? hit(src_ip, isBadSrc);
    if (found === undefined) return;
    this.#tell(found, row, {
      bad: ofDst === undefined ? 'src' : 'dst',
      // Later than attempts that began in the meantime, so that the alert says that there was an answer.
      timestamp: fact.isFirst ? timestamp : timeOf(block, row, fact.last),
      ...omitUndefined({ src_port: port(block, 'src_port', row), dst_port: port(block, 'dst_port', row) }),
      src_ip,
      dst_ip,
      transport: fact.transport,
      direction: directions[`${srcHome}-${dstHome}`],
      answered: fact.answered,
    });
  }

  dns(block: EventBlock, from: number, to: number): void {
    if (this.#matcher.isEmpty) return;
    this.#block = block;
    this.#queries.begin(block, this.#matcher.version);
    this.#answers.begin(block, this.#matcher.version);
    const queries = block.texts('query');
    const answers = block.texts('answers');
    for (let row = from; row < to; row++) {
      const code = queries.code(row);
      const answer = answers.code(row);
      const isBadName = code !== 0 && this.#queries.has(queries.list, code - 1);
      const isBadAnswer = answer !== 0 && this.#answers.has(answers.list, answer - 1);
      if (!isBadName && !isBadAnswer) continue;
      const domain = queries.text(row)?.toLowerCase().replace(/\.$/, '');
      const timestamp = timeOf(block, row, block.numbers('timestamp').at(row));
      const ofName = domain === undefined ? undefined : this.#matcher.domainHit(domain, timestamp);
      const ofAnswer = ofName === undefined && isBadAnswer ? this.#answerHit(answers.text(row)!, timestamp) : undefined;
      const hit = ofName ?? ofAnswer?.hit;
      if (hit === undefined) continue;
      const text = (name: 'src_ip' | 'dst_ip') => block.addresses(name).text(row);
      const ends = {
        src_ip: text('src_ip'),
        dst_ip: text('dst_ip'),
        transport: block.texts('transport').text(row),
      };
      const ports = { src_port: port(block, 'src_port', row), dst_port: port(block, 'dst_port', row) };
      const answered = !Number.isNaN(block.numbers('rcode').at(row));
      const bad =
        ofAnswer === undefined ? ({ bad: 'domain' } as const) : { bad: 'answer' as const, seen: ofAnswer.data };
      this.#tell(hit, row, { ...bad, timestamp, ...omitUndefined({ ...ends, ...ports, domain }), answered });
    }
  }

  /** Returns the first answer that a list contains at this time. */
  #answerHit(json: string, timestamp: number): { readonly hit: IntelHit; readonly data: string } | undefined {
    for (const data of answersIn(json)) {
      const hit = this.#matcher.addressHit(data, timestamp) ?? this.#matcher.domainHit(data, timestamp);
      if (hit !== undefined) return { hit, data };
    }
    return undefined;
  }

  #tell(hit: IntelHit, row: number, contact: IntelContact): void {
    this.#options.intel.counted(hit.list_id, contact.timestamp);
    const finding = intelFinding(hit, contact);
    const sensor = this.#block!.texts('sensor_id').text(row);
    const found = sensor === undefined ? finding : { ...finding, sensors: [sensor] };
    this.#options.found.add(found, [rowId(this.#block!, row)]);
  }
}

/** Returns the addresses and names in an answer section (JSON). */
const answersIn = (json: string): readonly string[] =>
  (JSON.parse(json) as { type?: string; data?: string }[]).flatMap(({ type = '', data }) =>
    data !== undefined && pointing.has(type) ? [data] : [],
  );
/** Record types whose data is an address or a name. Zeek reports no type, so '' is included. */
const pointing: ReadonlySet<string> = new Set(['', 'A', 'AAAA', 'CNAME', 'DNAME']);

const directions: Readonly<Record<`${boolean}-${boolean}`, NonNullable<IntelContact['direction']>>> = {
  'true-true': 'internal',
  'true-false': 'outbound',
  'false-true': 'inbound',
  'false-false': 'external',
};

/** Returns the sensor's time, limited to `limits.maxClockLeadMs` after receipt. */
const timeOf = (block: EventBlock, row: number, time: number): number =>
  Math.min(time, block.numbers('received_at').at(row) + limits.maxClockLeadMs);

function port(block: EventBlock, name: 'src_port' | 'dst_port', row: number): number | undefined {
  const value = block.numbers(name).at(row);
  return Number.isNaN(value) ? undefined : value;
}

/**
 * Caches for each text in a column of a block whether any intel list contains it. Each text is looked up on first use.
 */
class Named {
  readonly #isNamed: (text: string) => boolean;
  #block: EventBlock | undefined;
  #version = -1;
  /** Result by position: 0 not looked up, 1 not listed, 2 listed. */
  #known = new Uint8Array(0);

  constructor(isNamed: (text: string) => boolean) {
    this.#isNamed = isNamed;
  }

  /** @param version - version of the lists */
  begin(block: EventBlock, version: number): void {
    if (block === this.#block && version === this.#version) return;
    this.#block = block;
    this.#version = version;
    this.#known.fill(0);
  }

  has(list: { readonly length: number; text(place: number): string }, place: number): boolean {
    if (this.#known.length < list.length) this.#known = new Uint8Array(Math.max(list.length, limits.maxBlockRows));
    if (this.#known[place] === 0) this.#known[place] = this.#isNamed(list.text(place)) ? 2 : 1;
    return this.#known[place] === 2;
  }
}
