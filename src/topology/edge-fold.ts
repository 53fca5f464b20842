import { appProtocols } from '../contract/app-protocols.ts';
import type { AddressList } from '../events/column-readers.ts';
import { maxTime } from '../events/columns.ts';
import { isIcmp } from '../events/outcome.ts';
import type { FlowFact, FlowSink } from '../inventory/seen.ts';
import { addressNode, type Role, roles } from './blocks.ts';
import { Edges, most, noHour } from './edges.ts';
import { Nodes } from './nodes.ts';

export const hourMs = 3_600_000;
/** Characters of a protocol's name that are kept: sensors' own have a dozen. */
const maxProtocolLength = 32;

/**
 * Adds flows up to edges by the hour in which they began.
 *
 * What comes of it must not grow with what an attacker sends: a home host that did not answer is only its network, so
 * that scans and forged targets make no nodes, and the outside is networks.
 */
export class EdgeFold implements FlowSink {
  #edges: Edges;
  readonly #seed: number;
  readonly #horizonMs: () => number;
  #sources: Known | undefined;
  #targets: Known | undefined;
  /** The hour of the flow before, and where it begins. */
  #hour = noHour;
  #hourStart = Number.NaN;
  #horizon = Number.NEGATIVE_INFINITY;
  /** The protocols of the last row: rows that follow mostly have the same. */
  #app = '';
  #protocols: readonly string[] = [];

  /** @param horizonMs - flows that begin later belong to no hour, so that they don't push true ones out */
  constructor(horizonMs: () => number, seed = 0) {
    this.#horizonMs = horizonMs;
    this.#seed = seed;
    this.#edges = new Edges(seed);
  }

  get edges(): Edges {
    return this.#edges;
  }

  /** Edges added since `clear`, once for each hour. */
  get rows(): number {
    return this.#edges.count;
  }

  clear(): void {
    // As many will follow, mostly: growing to that anew takes a fifth of adding them.
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
    // Those of ICMP are types and codes.
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

/** What a sensor says, as a time that can be written: whole milliseconds of the years 1970 to 9999. */
function time(given: number): number {
  return given > 0 ? Math.min(maxTime, Math.floor(given)) : 0;
}

/** The nodes of one block's addresses, found once each. */
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
