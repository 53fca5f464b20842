import { type ConnectionState, connectionStates } from '../../../contract/vocabulary.ts';
import type { Flow } from '../../../detect/behaviour/detector.ts';
import type { EventBlock } from '../../../events/block.ts';
import { writeNumbers } from '../../../inventory/columns.ts';
import type { FlowFact } from '../../../inventory/seen.ts';
import { limits } from '../../../limits.ts';

const numbers = () => new Float64Array(limits.maxBlockRows);

/** A row of network events as detectors see it; `row` moves it to the next. */
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

  #block: EventBlock | undefined;
  #row = 0;
  /** Columns written out, from the row on that `begin` was told. */
  readonly #columns = {
    receipt: numbers(),
    duration: numbers(),
    state: numbers(),
    src: numbers(),
    dst: numbers(),
    srcPayload: numbers(),
    dstPayload: numbers(),
  };

  get connection(): string | undefined {
    return this.#block?.texts('connection_id').text(this.#row - 1);
  }

  /** Rows from this one on follow. */
  begin(block: EventBlock, from: number): void {
    const to = block.rows;
    this.#block = block;
    this.#row = from;
    const { receipt, duration, state, src, dst, srcPayload, dstPayload } = this.#columns;
    writeNumbers(block.numbers('received_at'), from, to, receipt);
    writeNumbers(block.numbers('duration_ms'), from, to, duration);
    writeNumbers(block.numbers('state'), from, to, state);
    writeNumbers(block.numbers('src_bytes'), from, to, src);
    writeNumbers(block.numbers('dst_bytes'), from, to, dst);
    writeNumbers(block.numbers('src_payload_bytes'), from, to, srcPayload);
    writeNumbers(block.numbers('dst_payload_bytes'), from, to, dstPayload);
  }

  row(fact: Readonly<FlowFact>): void {
    const row = this.#row++;
    const { receipt, duration, state, src, dst, srcPayload, dstPayload } = this.#columns;
    this.seq = this.#block!.firstSeq + row;
    this.time = Math.min(fact.first, receipt[row]! + limits.maxClockLeadMs);
    this.duration = duration[row]!;
    this.src = fact.srcs.text(fact.src);
    this.dst = fact.dsts.text(fact.dst);
    this.srcHome = fact.srcHome;
    this.dstHome = fact.dstHome;
    this.port = fact.port;
    this.transport = fact.transport;
    this.app = fact.app;
    this.state = connectionStates[state[row]!];
    this.answered = fact.answered;
    this.isFirst = fact.isFirst;
    const sent = known(src[row]!, srcPayload[row]!);
    const received = known(dst[row]!, dstPayload[row]!);
    // Of a connection that was reported before, what is new is shared as all of it is.
    const share = fact.isFirst ? 1 : fact.bytes / Math.max(1, sent + received);
    this.srcBytes = sent * share;
    this.dstBytes = received * share;
  }
}

/** Some sensors tell what was carried only, not the packets around it. */
const known = (bytes: number, payload: number): number => (bytes >= 0 ? bytes : payload > 0 ? payload : 0);
