import { directions } from '../contract/resources/network-event.ts';
import type { EventBlock } from '../events/block.ts';
import type { AddressList, TextColumn, TextList } from '../events/column-readers.ts';
import { addressHash, isHostAddress, isRoutedAddress } from './addresses.ts';
import { clientsByService, united } from './client-lists.ts';
import { ConnectionHashes, fetchedAtOnce } from './connection-hashes.ts';
import type { ConnectionMemory } from './connection-memory.ts';
import { NetworkRows, transports } from './network-rows.ts';
import { PairIndex } from './pair-index.ts';
import type { FlowFact, FlowSink, HostSeen, ServiceSeen } from './seen.ts';
import { Tally } from './tally.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const inbound = directions.indexOf('inbound');
const outbound = directions.indexOf('outbound');
const internal = directions.indexOf('internal');

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
  readonly #sources = new Tally();
  readonly #targets = new Tally();
  readonly #fact = emptyFact();

  readonly #hostsSeen = new Map<string, Mutable<HostSeen>>();
  readonly #servicesSeen = new Map<string, Mutable<ServiceSeen>>();
  readonly #gateways = new Set<string>();

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
    const gatewayMacs = {
      src: new Uint8Array(block.texts('src_mac').list.length + 1),
      dst: new Uint8Array(block.texts('dst_mac').list.length + 1),
    };
    const fact = this.#fact;
    fact.srcs = srcs;
    fact.dsts = dsts;
    for (const seen of [this.#services, this.#sources, this.#targets]) seen.pairs.clear();
    this.#clients.clear();

    const { direction: directionOf, timestamp, duration_ms, dst_port } = numbers;
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
      let connections = 1;
      let newBytes = bytes;
      if ((row - from) % fetchedAtOnce === 0) hashed.fetch(memory, row, Math.min(row + fetchedAtOnce, to));
      if (hashed.known[row] === 1) {
        const { repeated, bytesBefore } = memory.report(hashed.places[row]!, hashed.checks[row]!, bytes);
        if (repeated) connections = 0;
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
            this.#services.connections[service]! += connections;
            if (app_protocol[row] !== 0) this.#services.app[service] = app_protocol[row]!;
            this.#clients.of(service, src);
          }
        }
        // The source of a datagram can be forged; who completed a handshake is there.
        if (srcHome && kind === transports.tcp && isHostAddress(srcs, src))
          this.#sources.at(src, src_mac[row]!, first, last);
        if (direction === inbound && src_mac[row] !== 0 && isRoutedAddress(srcs, src))
          gatewayMacs.src[src_mac[row]!] = 1;
        if (direction === outbound && dst_mac[row] !== 0 && isRoutedAddress(dsts, dst))
          gatewayMacs.dst[dst_mac[row]!] = 1;
      }

      if (sinks.length > 0) {
        fact.src = src;
        fact.dst = dst;
        fact.srcHome = srcHome;
        fact.dstHome = dstHome;
        fact.answered = answered;
        fact.port = port;
        fact.transport = transport === 0 ? '' : transportList.text(transport - 1);
        fact.app = app_protocol[row] === 0 ? undefined : appList.text(app_protocol[row]! - 1);
        fact.connections = connections;
        fact.bytes = newBytes;
        fact.first = first;
        fact.last = last;
        for (const sink of sinks) sink.flow(fact);
      }
    }

    this.#keepHosts(this.#sources, srcs, block.texts('src_mac').list);
    this.#keepHosts(this.#targets, dsts, block.texts('dst_mac').list);
    this.#keepServices(dsts, srcHashes, transportList, appList);
    this.#keepGateways(block.texts('src_mac'), gatewayMacs.src);
    this.#keepGateways(block.texts('dst_mac'), gatewayMacs.dst);
  }

  /** Reads of these rows only what connections they report: they were counted before. */
  recall(block: EventBlock, memory: ConnectionMemory, from = 0, to: number = block.rows): void {
    const rows = this.#rows;
    rows.readConnections(block, from, to);
    const { numbers, codes } = rows;
    const hashed = this.#hashes;
    hashed.fill(block, hashes(block.addresses('src_ip').list), numbers, codes, from, to);
    for (let row = from; row < to; row++) {
      if ((row - from) % fetchedAtOnce === 0) hashed.fetch(memory, row, Math.min(row + fetchedAtOnce, to));
      if (hashed.known[row] === 1) memory.report(hashed.places[row]!, hashed.checks[row]!, rows.bytes(row));
    }
  }

  /** One for each address with each link-layer address that was seen with it. */
  hosts(): Iterable<HostSeen> {
    return this.#hostsSeen.values();
  }

  services(): Iterable<ServiceSeen> {
    return this.#servicesSeen.values();
  }

  /** Link-layer addresses that hosts beyond the home networks were seen with. */
  gateways(): Iterable<string> {
    return this.#gateways;
  }

  clear(): void {
    this.#hostsSeen.clear();
    this.#servicesSeen.clear();
    this.#gateways.clear();
  }

  #keepHosts({ pairs, first, last }: Tally, addresses: AddressList, macs: TextList): void {
    for (let i = 0; i < pairs.length; i++) {
      const ip = addresses.text(pairs.a[i]!);
      const mac = pairs.b[i] === 0 ? undefined : macs.text(pairs.b[i]! - 1);
      const key = mac === undefined ? ip : `${ip} ${mac}`;
      const host = this.#hostsSeen.get(key);
      if (host === undefined) {
        const seen = { ip, first: first[i]!, last: last[i]! };
        this.#hostsSeen.set(key, mac === undefined ? seen : { ...seen, mac });
      } else {
        host.first = Math.min(host.first, first[i]!);
        host.last = Math.max(host.last, last[i]!);
      }
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

  #keepGateways(macs: TextColumn, seen: Uint8Array): void {
    for (let code = 1; code < seen.length; code++)
      if (seen[code] === 1) this.#gateways.add(macs.list.text(code - 1));
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
    bytes: 0.5,
    first: 0.5,
    last: 0.5,
  };
}
