/** Connections after which it is counted anew: 9,000 pairs take 2 ms. */
const countedEvery = 4096;

/** How many of the hosts inside use a destination; counted when somebody wants to know. */
export class Prevalence {
  readonly #keys: () => Iterable<string>;
  #counted: { readonly hosts: number; readonly users: ReadonlyMap<string, ReadonlySet<string>> } | undefined;

  /** Connections since it was counted. */
  age = 0;

  /** @param keys - of pairs: a host inside, a blank, a destination, and what else follows a blank */
  constructor(keys: () => Iterable<string>) {
    this.#keys = keys;
  }

  of(dst: string): { hosts: number; users: number } {
    if (this.age >= countedEvery) this.forget();
    this.#counted ??= this.#count();
    return { hosts: this.#counted.hosts, users: this.#counted.users.get(dst)?.size ?? 0 };
  }

  forget(): void {
    this.#counted = undefined;
  }

  #count() {
    this.age = 0;
    const hosts = new Set<string>();
    const users = new Map<string, Set<string>>();
    for (const key of this.#keys()) {
      const [src = '', dst = ''] = key.split(' ', 2);
      hosts.add(src);
      const set = users.get(dst);
      if (set === undefined) users.set(dst, new Set([src]));
      else set.add(src);
    }
    return { hosts: hosts.size, users };
  }
}
