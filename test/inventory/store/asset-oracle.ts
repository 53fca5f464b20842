/**
 * A naive implementation of address ownership: every address has a list of ownership periods, and every asset
 * is an object compared by identity. It neither caches nor writes.
 */
export interface Machine {
  readonly source: string;
  state: string;
  macs: string[];
  /** Whether a user changed the machine, so that network evidence does not remove its attributes. */
  isByPeople: boolean;
  /**
   * Addresses that the network assigned since the last assignment, merge or split by a user; undefined
   * without such a change.
   */
  joined?: Set<string>;
}

interface Turn {
  owner: Machine;
  since: number;
  last: number;
  until: number;
  mac: string | undefined;
  /** The period in which the address was seen with its MAC address, without a pause of more than an hour. */
  use?: readonly [from: number, to: number] | undefined;
}

const longestPauseMs = 3_600_000;

export class AssetOracle {
  machines: Machine[] = [];
  turns = new Map<string, Turn[]>();
  /**
   * Owners by MAC address, and whether the MAC address belongs to a gateway. The MAC address of a gateway does not
   * identify a machine.
   */
  macs = new Map<string, { owner: Machine | undefined; gateway: boolean; byPeople: boolean }>();

  ownerAt(ip: string, time: number): Machine | undefined {
    return this.#turnAt(ip, time)?.owner;
  }

  ipsOf(machine: Machine): string[] {
    return [...this.turns].filter(([, turns]) => this.#holder(turns) === machine).map(([ip]) => ip);
  }

  everHad(machine: Machine): string[] {
    return [...this.turns].filter(([, turns]) => turns.some(({ owner }) => owner === machine)).map(([ip]) => ip);
  }

  holderOf(ip: string): Machine | undefined {
    return this.#holder(this.turns.get(ip) ?? []);
  }

  seen(ip: string, mac: string | undefined, at: number): void {
    this.#seen(ip, mac, at);
    const newest = this.turns.get(ip)?.at(-1);
    if (mac === undefined || this.macs.get(mac)?.gateway || newest?.mac !== mac || ip.includes(':')) return;
    if (this.#turnAt(ip, at) !== newest) return;
    const { use } = newest;
    if (use === undefined || at > use[1] + longestPauseMs) newest.use = [at, at];
    else if (at >= use[0] - longestPauseMs) newest.use = [Math.min(at, use[0]), Math.max(at, use[1])];
    const [from, to] = newest.use!;
    const { owner } = newest;
    if (!owner.macs.includes(mac)) return;
    const isConfirmed = (each: string) => owner.joined?.has(each) === false;
    const isShared = this.ipsOf(owner).some((each) => {
      const other = this.turns.get(each)!.at(-1)!;
      if (each === ip || other.mac !== mac || other.use === undefined) return false;
      return other.use[0] <= to && from <= other.use[1] && !(isConfirmed(ip) && isConfirmed(each));
    });
    if (!isShared) return;
    this.gateway(mac);
    this.#seen(ip, undefined, at);
  }

  #seen(ip: string, mac: string | undefined, at: number): void {
    const known = mac === undefined ? undefined : this.macs.get(mac);
    const usable = mac === undefined || known?.gateway ? undefined : mac;
    const turn = this.#turnAt(ip, at);
    const newest = this.turns.get(ip)?.at(-1);
    const free = newest === undefined ? 0 : freeFrom(newest);
    const isLate = at < free;
    const since = newest === undefined ? 0 : at;
    if (usable === undefined) {
      if (turn !== undefined) {
        if (turn.mac === undefined) turn.last = Math.max(turn.last, at);
      } else if (!isLate) this.#turn(ip, this.#machine(), since, at, undefined);
      return;
    }
    if (turn?.owner.macs.length === 0) this.#absorb(usable, turn.owner);
    const owner = this.macs.get(usable)?.owner;
    if (owner !== undefined) {
      if (turn?.owner === owner) {
        turn.last = Math.max(turn.last, at);
        if (turn.mac === undefined && turn === newest) turn.mac = usable;
      } else if (!isLate) this.#turn(ip, owner, since, at, usable);
      return;
    }
    if (turn !== undefined && turn.owner.macs.length === 0) {
      turn.last = Math.max(turn.last, at);
      this.#give(usable, turn.owner, false);
      if (turn === newest) turn.mac = usable;
      return;
    }
    const machine = this.#machine();
    if (!isLate) this.#turn(ip, machine, since, at, usable);
    this.#give(usable, machine, false);
  }

  /** Forgets the periods of use, which the store has only in memory. */
  forgetUse(): void {
    for (const turns of this.turns.values()) for (const turn of turns) turn.use = undefined;
  }

  gateway(mac: string): void {
    const known = this.macs.get(mac);
    if (known?.gateway) return;
    this.macs.set(mac, {
      owner: known?.byPeople ? known.owner : undefined,
      gateway: true,
      byPeople: known?.byPeople ?? false,
    });
    if (known?.owner === undefined) return;
    const { owner } = known;
    const [stays, ...others] = this.order.get(owner)!;
    for (const ip of new Set([...others, ...this.everHad(owner).sort()])) {
      if (ip === stays || owner.joined?.has(ip) === false) continue;
      const turns = this.turns.get(ip)!;
      const isCurrent = others.includes(ip);
      const isJoined = (turn: Turn) => turn.owner === owner && turn.mac === mac;
      const newest = turns.at(-1)!;
      if (isCurrent ? !isJoined(newest) : newest.owner === owner || !turns.some(isJoined)) continue;
      const another = turns.findLast((turn) => turn.owner !== owner)?.owner;
      const isFree =
        another !== undefined && this.ipsOf(another).every((each) => each.includes(':') !== ip.includes(':'));
      const other = !isCurrent || isFree ? another! : this.#machine(owner.source);
      for (const turn of turns.filter(isJoined)) turn.owner = other;
      if (!isCurrent) continue;
      newest.mac = undefined;
      newest.use = undefined;
      const order = this.order.get(owner)!;
      order.splice(order.indexOf(ip), 1);
      if (!this.order.get(other)!.includes(ip)) this.order.get(other)!.push(ip);
      other.joined?.add(ip);
    }
    if (!known.byPeople) this.#takeMac(known.owner, mac);
  }

  create(ips: readonly string[], macs: readonly string[]): void {
    const machine = this.#machine('manual', 'managed');
    for (const mac of macs) this.#give(mac, machine, true);
    for (const ip of ips) this.enter(machine, ip);
  }

  #confirm(machine: Machine): void {
    machine.joined = new Set();
  }

  enter(machine: Machine, ip: string): void {
    const newest = this.turns.get(ip)?.at(-1);
    const since = newest === undefined ? 0 : freeFrom(newest);
    this.#turn(ip, machine, since, since, undefined);
    this.#confirm(machine);
  }

  release(ip: string, now: number): void {
    const newest = this.turns.get(ip)!.at(-1)!;
    newest.until = Math.max(now, newest.last + 1, newest.since + 1);
    const order = this.order.get(newest.owner)!;
    order.splice(order.indexOf(ip), 1);
  }

  enterMac(machine: Machine, mac: string): void {
    this.#give(mac, machine, true);
  }

  releaseMac(machine: Machine, mac: string): void {
    if (this.macs.get(mac)!.gateway) this.macs.set(mac, { owner: undefined, gateway: true, byPeople: false });
    else this.macs.delete(mac);
    this.#takeMac(machine, mac);
  }

  remove(machine: Machine): void {
    for (const [ip, turns] of this.turns) {
      const kept: Turn[] = [];
      for (const turn of turns) {
        if (turn.owner !== machine) kept.push(turn);
        else if (kept.length > 0) kept.at(-1)!.until = Math.min(kept.at(-1)!.until, turn.since);
      }
      if (kept.length === 0) this.turns.delete(ip);
      else this.turns.set(ip, kept);
    }
    for (const mac of [...machine.macs]) this.releaseMac(machine, mac);
    this.machines = this.machines.filter((each) => each !== machine);
  }

  merge(from: Machine, to: Machine): void {
    for (const turns of this.turns.values()) for (const turn of turns) if (turn.owner === from) turn.owner = to;
    for (const mac of from.macs) this.macs.get(mac)!.owner = to;
    to.macs.push(...from.macs);
    this.order.set(to, [...this.order.get(to)!, ...this.order.get(from)!]);
    to.isByPeople = true;
    this.#confirm(to);
    this.machines = this.machines.filter((each) => each !== from);
  }

  split(machine: Machine, identifiers: readonly string[]): void {
    const macs = machine.macs.filter((mac) => identifiers.includes(mac));
    const goes = (ip: string, { owner, mac }: Turn) =>
      owner === machine && (identifiers.includes(ip) || macs.includes(mac ?? ''));
    const going = this.ipsOf(machine).filter((ip) => goes(ip, this.turns.get(ip)!.at(-1)!));
    const other = this.#machine(machine.source, machine.state);
    machine.isByPeople = other.isByPeople = true;
    this.#confirm(machine);
    this.#confirm(other);
    for (const [ip, turns] of this.turns) {
      const moved = turns.filter((turn) => goes(ip, turn));
      const newest = turns.at(-1)!;
      if (moved.includes(newest) && newest.mac !== undefined && !macs.includes(newest.mac)) {
        this.macs.set(newest.mac, { owner: machine, gateway: true, byPeople: true });
        newest.mac = newest.use = undefined;
      }
      for (const turn of moved) turn.owner = other;
    }
    const order = this.order.get(machine)!;
    this.order.set(
      other,
      order.filter((ip) => going.includes(ip)),
    );
    this.order.set(
      machine,
      order.filter((ip) => !going.includes(ip)),
    );
    for (const mac of macs) {
      machine.macs.splice(machine.macs.indexOf(mac), 1);
      this.macs.set(mac, { owner: other, gateway: this.macs.get(mac)!.gateway, byPeople: true });
    }
    other.macs = macs;
  }

  /** Current addresses in order of assignment. A gateway keeps the first address. */
  readonly order = new Map<Machine, string[]>();

  /** Merges a device without an address, known only by this MAC address, into the machine. */
  #absorb(mac: string, machine: Machine): void {
    const known = this.macs.get(mac);
    const device = known?.owner;
    if (device === undefined || device === machine || device.isByPeople || known!.byPeople) return;
    if (device.macs.length > 1 || this.everHad(device).length > 0) return;
    this.machines = this.machines.filter((each) => each !== device);
    this.#give(mac, machine, false);
  }

  #holder(turns: readonly Turn[]): Machine | undefined {
    const newest = turns.at(-1);
    return newest?.until === Infinity ? newest.owner : undefined;
  }

  #turnAt(ip: string, time: number): Turn | undefined {
    const turns = this.turns.get(ip) ?? [];
    const turn = turns.findLast(({ since }) => since <= time) ?? turns[0];
    return turn !== undefined && time < turn.until ? turn : undefined;
  }

  #turn(ip: string, owner: Machine, since: number, last: number, mac: string | undefined): void {
    const turns = this.turns.get(ip) ?? [];
    this.turns.set(ip, turns);
    const before = this.#holder(turns);
    if (before !== undefined && before !== owner) {
      const order = this.order.get(before)!;
      order.splice(order.indexOf(ip), 1);
    }
    turns.push({ owner, since, last, until: Infinity, mac });
    owner.joined?.add(ip);
    const order = this.order.get(owner)!;
    if (!order.includes(ip)) order.push(ip);
  }

  #give(mac: string, machine: Machine, byPeople: boolean): void {
    this.macs.set(mac, { owner: machine, gateway: this.macs.get(mac)?.gateway ?? false, byPeople });
    machine.macs.push(mac);
  }

  #takeMac(machine: Machine, mac: string): void {
    machine.macs = machine.macs.filter((each) => each !== mac);
    for (const ip of this.ipsOf(machine)) {
      const newest = this.turns.get(ip)!.at(-1)!;
      if (newest.mac === mac) newest.mac = newest.use = undefined;
    }
  }

  #machine(source = 'passive', state = 'staged'): Machine {
    const machine: Machine = { source, state, macs: [], isByPeople: source !== 'passive' };
    this.machines.push(machine);
    this.order.set(machine, []);
    return machine;
  }
}

const freeFrom = ({ since, last, until }: Turn): number =>
  until === Infinity ? Math.max(since, last) + 1 : Math.max(since + 1, last + 1, until);
