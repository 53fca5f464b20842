import { type ConnectionState, connectionStates } from '../../../contract/vocabulary.ts';
import type { EventBlock } from '../../../events/format/block.ts';
import { plausibleBytes, plausibleDuration } from '../../../events/plausible-bytes.ts';
import { writeNumbers } from '../../../inventory/model/columns.ts';
import type { FlowFact } from '../../../inventory/model/seen.ts';
import { limits } from '../../../limits.ts';
import type { Flow } from '../../behaviour/detector.ts';
import { AddressTexts } from './address-texts.ts';

const numbers = () => new Float64Array(limits.maxBlockRows);

/** The rows passed to `begin`, with the decoded columns from which views are filled. */
class FlowRows {
  block: EventBlock | undefined;
  /** Number of blocks so far; identifies the current block. */
  blocks = 0;
  /** Index of the next row. */
  row = 0;
  readonly texts = new AddressTexts();
  readonly time = numbers();
  readonly receipt = numbers();
  readonly duration = numbers();
  readonly state = numbers();
  readonly src = numbers();
  readonly dst = numbers();
  readonly srcPayload = numbers();
  readonly dstPayload = numbers();

  begin(block: EventBlock, from: number): void {
    const to = block.rows;
    this.block = block;
    this.blocks++;
    this.row = from;
    writeNumbers(block.numbers('timestamp'), from, to, this.time);
    writeNumbers(block.numbers('received_at'), from, to, this.receipt);
    writeNumbers(block.numbers('duration_ms'), from, to, this.duration);
    writeNumbers(block.numbers('state'), from, to, this.state);
    writeNumbers(block.numbers('src_bytes'), from, to, this.src);
    writeNumbers(block.numbers('dst_bytes'), from, to, this.dst);
    writeNumbers(block.numbers('src_payload_bytes'), from, to, this.srcPayload);
    writeNumbers(block.numbers('dst_payload_bytes'), from, to, this.dstPayload);
  }
}

/** A row of network events in the form that detectors use; `row` moves the view to the next row. */
export class FlowView implements Flow {
  seq = 0.5;
  time = 0.5;
  duration = 0.5;
  src = '';
  dst = '';
  srcHome = false;
  dstHome = false;
  port = 0.5;
  transport = '';
  app: string | undefined;
  state: ConnectionState | undefined;
  answered = false;
  isFirst = true;
  srcBytes = 0.5;
  dstBytes = 0.5;
  srcHash = 0.5;
  dstHash = 0.5;
  srcKey = 0;
  dstKey = 0;
  block = 0;
  srcPlace = 0;
  dstPlace = 0;

  readonly #rows: FlowRows;
  #block: EventBlock | undefined;
  #row = 0;

  constructor(rows: FlowRows = new FlowRows()) {
    this.#rows = rows;
  }

  get connection(): string | undefined {
    return this.#block?.texts('connection_id').text(this.#row);
  }

  /** Starts at row `from` of the block. */
  begin(block: EventBlock, from: number): void {
    this.#rows.begin(block, from);
  }

  row(fact: Readonly<FlowFact>): void {
    const rows = this.#rows;
    const row = rows.row++;
    this.#block = rows.block;
    this.#row = row;
    this.seq = rows.block!.firstSeq + row;
    const latest = rows.receipt[row]! + limits.maxClockLeadMs;
    this.time = Math.min(fact.first, latest);
    this.duration = Math.min(rows.duration[row]!, latest - this.time);
    const { texts } = rows;
    texts.at(fact.srcs, fact.src);
    this.src = texts.text;
    this.srcHash = texts.hash;
    this.srcKey = texts.key;
    texts.at(fact.dsts, fact.dst);
    this.dst = texts.text;
    this.dstHash = texts.hash;
    this.dstKey = texts.key;
    this.srcHome = fact.srcHome;
    this.dstHome = fact.dstHome;
    this.port = fact.port;
    this.transport = fact.transport;
    this.app = fact.app;
    this.state = connectionStates[rows.state[row]!];
    this.answered = fact.answered;
    this.isFirst = fact.isFirst;
    const duration = plausibleDuration(rows.duration[row]!, rows.time[row]!, rows.receipt[row]!);
    const sent = plausibleBytes(rows.src[row]!, rows.srcPayload[row]!, duration);
    const received = plausibleBytes(rows.dst[row]!, rows.dstPayload[row]!, duration);
    // The new bytes of a connection that was already reported are divided between both sides in proportion to
    // the totals.
    const share = fact.isFirst ? 1 : fact.bytes / Math.max(1, sent + received);
    this.srcBytes = sent * share;
    this.dstBytes = received * share;
    this.block = rows.blocks;
    this.srcPlace = fact.src;
    this.dstPlace = fact.dst;
  }
}

/**
 * Number of rows that are passed to the detectors together: the views of these rows fit into the processor's L1 cache.
 */
const maxWaiting = 64;

/** Views of consecutive rows of a block. */
export class FlowViews {
  readonly views: readonly FlowView[];
  /** Number of filled views. */
  size = 0;
  /** Sequence of the first view. */
  first = 0;
  readonly #rows = new FlowRows();

  constructor() {
    this.views = Array.from({ length: maxWaiting }, () => new FlowView(this.#rows));
  }

  get isFull(): boolean {
    return this.size === maxWaiting;
  }

  /** Sequence of the next row. */
  get next(): number {
    return this.#rows.block!.firstSeq + this.#rows.row;
  }

  /** Starts at row `from` of the block. */
  begin(block: EventBlock, from: number): void {
    this.#rows.begin(block, from);
  }

  /** Adds the next row and returns its sequence. Must not be called when all views are filled. */
  add(fact: Readonly<FlowFact>): number {
    const view = this.views[this.size]!;
    view.row(fact);
    if (this.size++ === 0) this.first = view.seq;
    return view.seq;
  }

  clear(): void {
    this.size = 0;
  }
}
