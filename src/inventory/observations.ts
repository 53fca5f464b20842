import { directions } from '../contract/vocabulary.ts';
import type { EventBlock } from '../events/block.ts';
import type { AddressList, TextList } from '../events/column-readers.ts';
import { addressHash, isHostAddress, isRoutedAddress } from './addresses.ts';
import { clientsByService, united } from './client-lists.ts';
import { ConnectionHashes, fetchedAtOnce } from './connection-hashes.ts';
import type { ConnectionMemory } from './connection-memory.ts';
import { ExternalEnds, GatewayMemory } from './gateway-memory.ts';
import { HostSpans, inOrder } from './host-spans.ts';
import { NetworkRows, transports } from './network-rows.ts';
import { PairIndex } from './pair-index.ts';
import type { FlowFact, FlowSink, HostSeen, ServiceSeen } from './seen.ts';
import { Tally } from './tally.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const inbound = directions.indexOf('inbound');
const outbound = directions.indexOf('outbound');
const internal = directions.indexOf('internal');

/** Types of ICMP and ICMPv6 that ask whether a host is there; events have the type in place of a source port. */
const echoRequests: ReadonlySet<number> = new Set([8, 128]);

/**
 * What blocks of network events say of hosts and services of the home networks, together. Rows are read column by
 * column and counted by the codes of their block: nothing is made for a row, and texts only for what is new in a
 * block. Memory grows with what was seen until `clear`.
 */
export class Observations {
  readonly #rows = new NetworkRows();
  readonly #hashes = new ConnectionHashes();
  readonly #services = new Tally();
  readonly #clients = new PairIndex();
  readonly #sources = new HostSpans();
  readonly #targets = new HostSpans();
  readonly #fact = emptyFact();

  /** By address. */
  readonly #hostsSeen = new Map<string, HostSeen[]>();
  readonly #servicesSeen = new Map<string, Mutable<ServiceSeen>>();
  readonly #gateways = new Set<string>();
  /** Of all passes. */
  readonly #forwarders = new GatewayMemory();
  #united = 0;

  /**
   * Reads rows [from, to) of a block of network events, in their order. Each sink is told of every row, in the same
   * order.
   */
  add(
    block: EventBlock,
    memory: ConnectionMemory,
    sinks: readonly FlowSink[] = [],
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

    const { direction: directionOf, timestamp, duration_ms, src_port, dst_port } = numbers;
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
        const known = memory.report(hashed.places[row]!, hashed.checks[row]!, bytes, answered);
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
        // The source of a datagram can be forged; who completed a handshake is there.
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
          kind === transports.icmp && !(src_port[row]! >= 0 && !echoRequests.has(src_port[row]!))
            ? Number.NaN
            : port;
        fact.transport = transport === 0 ? '' : transportList.text(transport - 1);
        fact.app = app_protocol[row] === 0 ? undefined : appList.text(app_protocol[row]! - 1);
        const isHostsFirst = isFirstAnswered && dstHome && isHostAddress(dsts, dst);
        fact.connections = isFirst || isHostsFirst ? 1 : 0;
        fact.isFirst = isFirst;
        fact.bytes = newBytes;
        fact.first = first;
        fact.last = last;
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

  /** Reads of these rows only what connections they report: they were counted before. */
  recall(block: EventBlock, memory: ConnectionMemory, from = 0, to: number = block.rows): void {
    const rows = this.#rows;
    rows.readConnections(block, from, to);
    const { numbers, codes, transportKinds } = rows;
    const hashed = this.#hashes;
    hashed.fill(block, hashes(block.addresses('src_ip').list), numbers, codes, from, to);
    for (let row = from; row < to; row++) {
      if ((row - from) % fetchedAtOnce === 0) hashed.fetch(memory, row, Math.min(row + fetchedAtOnce, to));
      if (hashed.known[row] !== 1) continue;
      const answered = rows.answered(row, transportKinds[codes.transport[row]!]!);
      memory.report(hashed.places[row]!, hashed.checks[row]!, rows.bytes(row), answered);
    }
  }

  /**
   * The hosts in the order in which they began to be seen: for each address one, or, where it went from one link-layer
   * address to another, one for each time that it stayed with one.
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
    // These are in the order of their ends.
    return [...hosts, ...conflicting];
  }

  /** Addresses that changed hands more often within one pass than is followed. Only grows. */
  get united(): number {
    return this.#united;
  }

  /** How often a link-layer address was forgotten before enough hosts were seen with it. Only grows. */
  get forgottenForwarders(): number {
    return this.#forwarders.forgotten;
  }

  services(): Iterable<ServiceSeen> {
    return this.#servicesSeen.values();
  }

  /** Link-layer addresses that several hosts beyond the home networks were seen with, in this pass or before. */
  gateways(): Iterable<string> {
    return this.#gateways;
  }

  clear(): void {
    this.#hostsSeen.clear();
    this.#servicesSeen.clear();
    this.#gateways.clear();
  }

  #keepHosts(
    { ip, mac, first, last, began, length }: HostSpans,
    addresses: AddressList,
    macs: TextList,
  ): void {
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
    bytes: 0.5,
    first: 0.5,
    last: 0.5,
  };
}
