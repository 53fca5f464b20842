import { directions } from '../../contract/vocabulary.ts';
import type { EventBlock } from '../../events/format/block.ts';
import type { AddressList, TextList } from '../../events/format/column-readers.ts';
import { limits } from '../../limits.ts';
import { PairIndex } from '../../sketch/pair-index.ts';
import { addressHash, isHostAddress, isRoutedAddress } from './addresses.ts';
import { ConnectionHashes, fetchedAtOnce } from './connection-hashes.ts';
import type { ConnectionMemory } from './connection-memory.ts';
import { ExternalEnds, GatewayMemory } from './gateway-memory.ts';
import { HostSpans, inOrder } from './host-spans.ts';
import { NetworkRows, transports } from './network-rows.ts';
import type { FlowConsumer, FlowFact, HostSeen, ServiceSeen } from './seen.ts';
import { Tally } from './tally.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const inbound = directions.indexOf('inbound');
const outbound = directions.indexOf('outbound');
const internal = directions.indexOf('internal');

/** ICMP and ICMPv6 types of echo requests. Events have the type in the column of the source port. */
const echoRequests: ReadonlySet<number> = new Set([8, 128]);

/**
 * Evidence for home hosts and services in blocks of network events. Rows are read column by column and counted
 * by the codes of their block: no objects are created for rows, and texts are created only for new entries of a
 * block. Memory grows with the evidence until `clear`.
 */
export class Observations {
  readonly #rows = new NetworkRows();
  readonly #hashes = new ConnectionHashes();
  readonly #services = new Tally();
  readonly #clients = new PairIndex();
  readonly #sources = new HostSpans();
  readonly #targets = new HostSpans();
  readonly #fact = emptyFact();

  /** Hosts by address. */
  readonly #hostsSeen = new Map<string, HostSeen[]>();
  readonly #servicesSeen = new Map<string, Mutable<ServiceSeen>>();
  readonly #gateways = new Set<string>();
  /** Gateways found in all passes. */
  readonly #forwarders = new GatewayMemory();
  #united = 0;

  /**
   * Reads rows [from, to) of a block of network events, in order. Each sink receives every row, in the same
   * order.
   */
  add(
    block: EventBlock,
    memory: ConnectionMemory,
    sinks: readonly FlowConsumer[] = [],
    from = 0,
    to: number = block.rows,
  ): void {
    const rows = this.#rows;
    rows.read(block, from, to);
    const { numbers, codes, transportKinds } = rows;
    const srcs = block.addresses('src_ip').list;
    const dsts = block.addresses('dst_ip').list;
    const transportList = block.texts('transport').list;
    const appList = block.texts('app_protocol').list;
    const srcHashes = hashes(srcs);
    const hashed = this.#hashes;
    hashed.fill(block, srcHashes, numbers, codes, from, to);
    const externalSrcs = new ExternalEnds(block.texts('src_mac').list.length + 1);
    const externalDsts = new ExternalEnds(block.texts('dst_mac').list.length + 1);
    const fact = this.#fact;
    fact.srcs = srcs;
    fact.dsts = dsts;
    this.#services.pairs.clear();
    this.#sources.begin(srcs.length);
    this.#targets.begin(dsts.length);
    this.#clients.clear();
    for (const sink of sinks) sink.begin?.(block, from);

    const { direction: directionOf, timestamp, received_at, duration_ms, src_port, dst_port } = numbers;
    const { src_ip, src_mac, dst_ip, dst_mac, transport: transportOf, app_protocol } = codes;
    for (let row = from; row < to; row++) {
      const direction = directionOf[row]!;
      const srcHome = direction === outbound || direction === internal;
      const dstHome = direction === inbound || direction === internal;
      const src = src_ip[row]! - 1;
      const dst = dst_ip[row]! - 1;
      const transport = transportOf[row]!;
      const kind = transportKinds[transport]!;
      const answered = rows.answered(row, kind);
      const port = dst_port[row]!;
      const bytes = rows.bytes(row);
      let isFirst = true;
      let isFirstAnswered = answered;
      let isAnswered = answered;
      let newBytes = bytes;
      if ((row - from) % fetchedAtOnce === 0) hashed.fetch(memory, row, Math.min(row + fetchedAtOnce, to));
      if (hashed.known[row] === 1) {
        const ended = rows.ended(row, kind);
        const known = memory.report(hashed.places[row]!, hashed.checks[row]!, bytes, answered, ended);
        const { repeated, answeredBefore, bytesBefore } = known;
        isFirst = !repeated;
        isFirstAnswered = answered && !answeredBefore;
        isAnswered = answered || answeredBefore;
        newBytes = bytes > bytesBefore ? bytes - bytesBefore : 0;
      }
      const first = timestamp[row]!;
      const duration = duration_ms[row]!;
      const last = duration > 0 ? first + Math.floor(duration) : first;

      if (answered) {
        if (dstHome && isHostAddress(dsts, dst)) {
          this.#targets.at(dst, dst_mac[row]!, first, last);
          if (kind !== transports.icmp && port > 0) {
            const service = this.#services.at((dst << 16) | port, transport, first, last);
            if (isFirstAnswered) this.#services.connections[service]!++;
            if (app_protocol[row] !== 0) this.#services.app[service] = app_protocol[row]!;
            this.#clients.of(service, src);
          }
        }
        // Records the source only for TCP: the source of a datagram can be forged, but a host that completed a
        // handshake exists.
        if (srcHome && kind === transports.tcp && isHostAddress(srcs, src))
          this.#sources.at(src, src_mac[row]!, first, last);
        if (direction === inbound && src_mac[row] !== 0 && isRoutedAddress(srcs, src))
          externalSrcs.add(src_mac[row]!, src);
        if (direction === outbound && dst_mac[row] !== 0 && isRoutedAddress(dsts, dst))
          externalDsts.add(dst_mac[row]!, dst);
      }

      if (sinks.length > 0) {
        fact.src = src;
        fact.dst = dst;
        fact.srcHome = srcHome;
        fact.dstHome = dstHome;
        fact.answered = isAnswered;
        fact.port =
          kind === transports.icmp && !(src_port[row]! >= 0 && !echoRequests.has(src_port[row]!)) ? Number.NaN : port;
        fact.transport = transport === 0 ? '' : transportList.text(transport - 1);
        fact.app = app_protocol[row] === 0 ? undefined : appList.text(app_protocol[row]! - 1);
        const isHostsFirst = isFirstAnswered && dstHome && isHostAddress(dsts, dst);
        fact.connections = isFirst || isHostsFirst ? 1 : 0;
        fact.isFirst = isFirst;
        fact.isFirstAnswered = isFirstAnswered;
        fact.bytes = newBytes;
        fact.first = first;
        // The end is limited by the time of receipt, because a later end would make any number of bytes
        // plausible.
        const latest = received_at[row]! + limits.maxClockLeadMs;
        fact.last = last > latest ? Math.max(first, latest) : last;
        for (const sink of sinks) sink.flow(fact);
      }
    }

    for (const sink of sinks) sink.end?.();
    this.#keepHosts(this.#sources, srcs, block.texts('src_mac').list);
    this.#keepHosts(this.#targets, dsts, block.texts('dst_mac').list);
    this.#keepServices(dsts, srcHashes, transportList, appList);
    this.#keepGateways(block.texts('src_mac').list, externalSrcs, srcs);
    this.#keepGateways(block.texts('dst_mac').list, externalDsts, dsts);
  }

  /** Restores the connection memory from rows that were already processed. */
  recall(block: EventBlock, memory: ConnectionMemory, from = 0, to: number = block.rows): void {
    const rows = this.#rows;
    rows.readConnections(block, from, to);
    const { numbers, codes, transportKinds } = rows;
    const hashed = this.#hashes;
    hashed.fill(block, hashes(block.addresses('src_ip').list), numbers, codes, from, to);
    for (let row = from; row < to; row++) {
      if ((row - from) % fetchedAtOnce === 0) hashed.fetch(memory, row, Math.min(row + fetchedAtOnce, to));
      if (hashed.known[row] !== 1) continue;
      const kind = transportKinds[codes.transport[row]!]!;
      const answered = rows.answered(row, kind);
      memory.report(hashed.places[row]!, hashed.checks[row]!, rows.bytes(row), answered, rows.ended(row, kind));
    }
  }

  /**
   * Returns the hosts in the order in which they were first seen: one for each address, or several if the
   * address moved between link-layer addresses.
   */
  hosts(): HostSeen[] {
    const hosts: HostSeen[] = [];
    const conflicting: HostSeen[] = [];
    for (const seen of this.#hostsSeen.values()) {
      const { spans, united } = inOrder(seen);
      if (united) {
        this.#united++;
        conflicting.push(...spans);
      } else for (const span of spans) hosts.push(span);
    }
    hosts.sort((a, b) => a.first - b.first);
    // Hosts whose addresses conflict follow, in the order of their end times.
    return [...hosts, ...conflicting];
  }

  /** Number of addresses that changed owners too often within a pass. Only increases. */
  get united(): number {
    return this.#united;
  }

  /**
   * Number of times that a link-layer address was evicted before it was seen with enough hosts. Only increases.
   */
  get forgottenForwarders(): number {
    return this.#forwarders.forgotten;
  }

  services(): Iterable<ServiceSeen> {
    return this.#servicesSeen.values();
  }

  /** Returns link-layer addresses seen with several external hosts, in this pass or earlier passes. */
  gateways(): Iterable<string> {
    return this.#gateways;
  }

  clear(): void {
    this.#hostsSeen.clear();
    this.#servicesSeen.clear();
    this.#gateways.clear();
  }

  #keepHosts({ ip, mac, first, last, began, length }: HostSpans, addresses: AddressList, macs: TextList): void {
    for (let span = 1; span < length; span++) {
      const address = addresses.text(ip[span]!);
      const times = { ip: address, first: first[span]!, last: last[span]!, began: began[span]! };
      const seen = mac[span] === 0 ? times : { ...times, mac: macs.text(mac[span]! - 1) };
      const known = this.#hostsSeen.get(address);
      if (known === undefined) this.#hostsSeen.set(address, [seen]);
      else known.push(seen);
    }
  }

  #keepServices(dsts: AddressList, srcHashes: Uint32Array, transportList: TextList, apps: TextList): void {
    const { pairs, first, last, connections, app } = this.#services;
    const clients = clientsByService(this.#clients, pairs.length, srcHashes);
    for (let i = 0; i < pairs.length; i++) {
      const ip = dsts.text(pairs.a[i]! >>> 16);
      const port = pairs.a[i]! & 0xffff;
      const transport = transportList.text(pairs.b[i]! - 1);
      const name = app[i] === 0 ? undefined : apps.text(app[i]! - 1);
      const key = `${ip} ${port} ${transport}`;
      const service = this.#servicesSeen.get(key);
      if (service === undefined) {
        const seen = {
          ip,
          port,
          transport,
          connections: connections[i]!,
          clients: clients[i]!,
          first: first[i]!,
          last: last[i]!,
        };
        this.#servicesSeen.set(key, name === undefined ? seen : { ...seen, name });
      } else {
        if (name !== undefined) service.name = name;
        service.connections += connections[i]!;
        service.clients = united(service.clients, clients[i]!);
        service.first = Math.min(service.first, first[i]!);
        service.last = Math.max(service.last, last[i]!);
      }
    }
  }

  #keepGateways(macs: TextList, ends: ExternalEnds, addresses: AddressList): void {
    for (let code = 1; code <= macs.length; code++) {
      const places = ends.of(code);
      if (places.length === 0) continue;
      const mac = macs.text(code - 1);
      const hashed = Array.from(places, (place) => addressHash(addresses, place));
      if (this.#forwarders.saw(mac, hashed)) this.#gateways.add(mac);
    }
  }
}

function hashes(list: AddressList): Uint32Array {
  const all = new Uint32Array(list.length);
  for (let i = 0; i < list.length; i++) all[i] = addressHash(list, i);
  return all;
}

function emptyFact(): FlowFact {
  const none = undefined as unknown as AddressList;
  return {
    srcs: none,
    dsts: none,
    src: 0,
    dst: 0,
    srcHome: false,
    dstHome: false,
    answered: false,
    port: Number.NaN,
    transport: '',
    app: undefined,
    connections: 1,
    isFirst: true,
    isFirstAnswered: false,
    bytes: 0.5,
    first: 0.5,
    last: 0.5,
  };
}

/** Returns for each service the address hashes of its clients, ascending and distinct, in one array. */
function clientsByService(pairs: PairIndex, services: number, srcHashes: Uint32Array): Uint32Array[] {
  const ends = new Uint32Array(services);
  for (let i = 0; i < pairs.length; i++) ends[pairs.a[i]!]!++;
  for (let service = 1; service < services; service++) ends[service]! += ends[service - 1]!;
  const all = new Uint32Array(pairs.length);
  for (let i = pairs.length - 1; i >= 0; i--) all[--ends[pairs.a[i]!]!] = srcHashes[pairs.b[i]!]!;
  // After the loop, `ends` contains the starts.
  return Array.from(ends, (start, service) => distinct(all.subarray(start, ends[service + 1] ?? all.length)));
}

/** Returns distinct hashes, ascending. Sorts in place. */
function distinct(hashes: Uint32Array): Uint32Array {
  if (hashes.length < 2) return hashes;
  hashes.sort();
  let length = 1;
  for (let i = 1; i < hashes.length; i++) if (hashes[i] !== hashes[i - 1]) hashes[length++] = hashes[i]!;
  return length === hashes.length ? hashes : hashes.subarray(0, length);
}

/** Returns the union of two ascending lists of distinct hashes. */
function united(a: Uint32Array, b: Uint32Array): Uint32Array {
  const both = new Uint32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return distinct(both);
}
