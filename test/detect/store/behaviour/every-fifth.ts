import type {
  Detection,
  Detector,
  DnsLookup,
  Flow,
  StoredEventRef,
} from '../../../../src/detect/behaviour/detector.ts';

interface Counted {
  n: number;
  told: number;
  last: StoredEventRef;
}

/** Reports every fifth event of a source, so that the expected findings can be computed exactly from the events. */
export class EveryFifth implements Detector {
  readonly card = {
    id: 'every-fifth',
    version: 1,
    name: 'Every fifth',
    category: 'test',
    mitre: { tactics: [], techniques: [] },
  };
  readonly dropped = { late: 0, forgotten: 0, stale: 0 };
  #sources = new Map<string, Counted>();

  flow({ src, seq }: Flow): void {
    this.#count(src, { table: 'network', seq });
  }

  lookup({ query, seq }: DnsLookup): void {
    if (query === 'throw.example') throw new Error('a bug');
    this.#count(query, { table: 'dns', seq });
  }

  evaluate(emit: (detection: Detection) => void): void {
    for (const [source, counted] of this.#sources)
      for (; counted.n - counted.told >= 5; counted.told += 5)
        emit({
          title: 'Every fifth',
          description: 'Five more.',
          severity: source.endsWith('.9') ? 'high' : 'low',
          confidence: 0.5,
          timestamp: Date.UTC(2026, 10, 20),
          ends: source.includes('example') ? { domain: source } : { src_ip: source },
          evidence: { n: counted.told + 5 },
          events: [counted.last],
        });
  }

  state(): unknown {
    return this.#sources;
  }

  restore(state: unknown): void {
    this.#sources = state as Map<string, Counted>;
  }

  merge(): void {
    throw new Error('not used in these tests');
  }

  #count(key: string, last: StoredEventRef): void {
    const counted = this.#sources.get(key);
    if (counted === undefined) this.#sources.set(key, { n: 1, told: 0, last });
    else {
      counted.n++;
      counted.last = last;
    }
  }
}
