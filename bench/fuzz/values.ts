import type { TSchema } from 'typebox';
import { fragments, type Random } from './random.ts';

/** Identifiers from responses, so that requests refer to existing objects. */
export class SeenIds {
  readonly #ids: string[] = [];
  /** Identifiers of the fuzzer's own principals and tokens, which its requests must not change. */
  readonly #own = new Set<string>();
  #at = 0;
  /** Rules of the access policy at the start. */
  rules: unknown;

  protect(text: string): void {
    for (const [id] of text.matchAll(idPattern)) this.#own.add(id);
  }

  collect(text: string): void {
    for (const [id] of text.slice(0, 20_000).matchAll(idPattern)) this.#ids[this.#at++ % maxIds] = id;
  }

  pick(random: Random): string | undefined {
    const id = random.pick(this.#ids);
    return this.#own.has(id) ? undefined : id;
  }
}

const maxIds = 500;
const idPattern = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b/g;

/** The members of a JSON Schema that the contract uses. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly items?: TSchema;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Returns a value of the schema or, in one of `oneIn` cases, a value of any other kind. */
export function generate(schema: TSchema, random: Random, seen: SeenIds, oneIn = 25): unknown {
  if (random.chance(1 / oneIn)) return junk(random);
  const given = schema as Schema;
  if (given.const !== undefined) return given.const;
  if (given.enum !== undefined) return random.pick(given.enum);
  if (given.anyOf !== undefined) return generate(random.pick(given.anyOf), random, seen, oneIn);
  switch (Array.isArray(given.type) ? random.pick(given.type) : given.type) {
    case 'object': {
      const names = Object.keys(given.properties ?? {});
      const chosen = names.filter((name) => given.required?.includes(name) || random.chance(0.4));
      if (random.chance(0.02)) chosen.push(random.pick(fragments));
      const member = (name: string) => generate(given.properties?.[name] ?? {}, random, seen, oneIn);
      return Object.fromEntries(chosen.map((name) => [name, member(name)]));
    }
    case 'array':
      return random.times(3, () => generate(given.items ?? {}, random, seen, oneIn));
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 2 ** 40 } = given;
      return random.pick([minimum, maximum, minimum + random.below(Math.min(1000, maximum - minimum + 1))]);
    }
    case 'boolean':
      return random.chance(0.5);
    case 'string':
      return textOf(given, random, seen);
    default:
      return junk(random);
  }
}

function textOf({ format = '', pattern = '' }: Schema, random: Random, seen: SeenIds): string {
  if (pattern.includes('64')) return seen.pick(random) ?? '0'.repeat(64);
  const octet = () => random.below(256);
  switch (format) {
    case 'uuid':
      return seen.pick(random) ?? crypto.randomUUID();
    case 'hex32':
      return random.bytes(32).toString('hex');
    case 'date-time':
    case 'time':
      return new Date(Date.now() + (random.below(2000) - 1000) * 10_000_000).toISOString();
    case 'ip':
    case 'identifier':
      return random.chance(0.8) ? `10.0.0.${octet()}` : `2001:db8::${octet().toString(16)}`;
    case 'network':
      return `10.${octet()}.0.0/${random.below(33)}`;
    case 'mac':
      return `00:1b:63:84:45:${octet().toString(16).padStart(2, '0')}`;
    case 'hostname':
      return `host-${random.below(50)}.example`;
    default:
      return random.chance(0.2)
        ? random.pick(fragments)
        : ((random.chance(0.5) ? seen.pick(random) : undefined) ?? `text ${random.below(100)}`);
  }
}

function junk(random: Random): unknown {
  const deep = (depth: number): unknown => (depth === 0 ? 0 : [deep(depth - 1)]);
  return random.pick<unknown>([
    null,
    true,
    -1,
    0.1,
    1e308,
    [],
    {},
    [null],
    deep(60),
    random.pick(fragments),
    JSON.parse('{"__proto__":{"admin":true}}'),
  ]);
}
