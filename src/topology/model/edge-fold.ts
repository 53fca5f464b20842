import { appProtocols } from '../../contract/app-protocols.ts';
import { isIcmp } from '../../events/connection-state.ts';
import type { AddressList } from '../../events/format/column-readers.ts';
import { maxTime } from '../../events/format/columns.ts';
import type { FlowConsumer, FlowFact } from '../../inventory/model/seen.ts';
import { addressNode, type Role, roles } from './blocks.ts';
import { Edges, most, noHour } from './edges.ts';
import { Nodes } from './nodes.ts';

export const hourMs = 3_600_000;
/** Maximum length of a protocol's name. Names that sensors use have about a dozen characters. */
const maxProtocolLength = 32;

/**
 * Sums flows into edges, by the hour in which the flows began.
 *
 * The result must not grow with an attacker's input. A home target that did not answer is represented by its
 * network, so scans and forged targets do not create nodes. External hosts are represented by their networks.
 */
export class EdgeFold implements FlowConsumer {
  #edges: Edges;
  readonly #seed: number;
  readonly #horizonMs: () => number;
  #sources: Known | undefined;
  #targets: Known | undefined;
  /** Hour of the previous flow. */
  #hour = noHour;
  /** Start of the hour of the previous flow. */
  #hourStart = Number.NaN;
  #horizon = Number.NEGATIVE_INFINITY;
  /** Protocol name of the last flow. Most consecutive flows have the same name. */
  #app = '';
  #protocols: readonly string[] = [];

  /**
   * @param horizonMs - returns the latest plausible time; flows that begin later get no hour, so that they do
   * not displace real hours
   */
  constructor(horizonMs: () => number, seed = 0) {
    this.#horizonMs = horizonMs;
    this.#seed = seed;
    this.#edges = new Edges(seed);
  }

  get edges(): Edges {
    return this.#edges;
  }

  /** Number of edges added since `clear`, where an edge counts once per hour. */
  get rows(): number {
    return this.#edges.count;
  }

  clear(): void {
    // The capacity is kept, because the next flows usually create as many edges. Growing takes a fifth of the
    // time of adding edges.
    const { count, nodes } = this.#edges;
    this.#edges = new Edges(this.#seed, new Nodes(this.#seed, nodes.count), count);
    this.#sources = undefined;
    this.#targets = undefined;
    this.#hourStart = Number.NaN;
    this.#horizon = Number.NEGATIVE_INFINITY;
  }

  flow(fact: Readonly<FlowFact>): void {
    const { srcs, dsts } = fact;
    if (this.#sources?.list !== srcs) this.#sources = new Known(srcs);
    if (this.#targets?.list !== dsts) this.#targets = new Known(dsts);
    const source = this.#sources.node(this.#edges, fact.src, fact.srcHome ? roles.host : roles.outside);
    const role = fact.dstHome ? (fact.answered ? roles.host : roles.site) : roles.outside;
    const target = this.#targets.node(this.#edges, fact.dst, role);
    const first = time(fact.first);
    const row = this.#edges.row(this.#hourOf(first), source, target);
    const bytes = fact.bytes > 0 ? Math.min(most, Math.floor(fact.bytes)) : 0;
    this.#edges.add(row, fact.connections, bytes, first, Math.max(first, time(fact.last)));
    // Ports of ICMP are types and codes.
    if (fact.port >= 0 && !isIcmp(fact.transport)) this.#edges.addPort(row, fact.port);
    const { app } = fact;
    if (app === undefined || app === '') return;
    if (app !== this.#app) {
      this.#app = app;
      this.#protocols = appProtocols(app);
    }
    for (const one of this.#protocols) {
      const name = one.length > maxProtocolLength ? one.slice(0, maxProtocolLength).toWellFormed() : one;
      this.#edges.addProtocol(row, this.#edges.text(name));
    }
  }

  #hourOf(first: number): number {
    const since = first - this.#hourStart;
    if (since >= 0 && since < hourMs) return this.#hour;
    if (first > this.#horizon) {
      this.#horizon = this.#horizonMs();
      if (first > this.#horizon) return noHour;
    }
    this.#hour = Math.floor(first / hourMs);
    this.#hourStart = this.#hour * hourMs;
    return this.#hour;
  }
}

/** Limits a sensor's time to representable times: whole milliseconds of the years 1970 to 9999. */
function time(given: number): number {
  return given > 0 ? Math.min(maxTime, Math.floor(given)) : 0;
}

/** Caches the nodes of one block's addresses. */
class Known {
  readonly list: AddressList;
  readonly #nodes: Int32Array;

  constructor(list: AddressList) {
    this.list = list;
    this.#nodes = new Int32Array(3 * list.length).fill(-1);
  }

  node(edges: Edges, index: number, role: Role): number {
    const place = 3 * index + role;
    const known = this.#nodes[place]!;
    if (known >= 0) return known;
    const node = addressNode(edges.nodes, this.list, index, role);
    this.#nodes[place] = node;
    return node;
  }
}
