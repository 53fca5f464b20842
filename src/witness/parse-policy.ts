/**
 * Parser for the file format of C2SP tlog-policy.
 *
 *     log <vkey> [<url>]
 *     witness <name> <vkey> [<url>]
 *     group <name> all|any|<k> <name>…
 *     quorum <name>|none
 *
 * Names are opaque octets, and a line can refer only to earlier lines.
 */
import { limits } from '../limits.ts';
import { TlogError } from '../tlog/fault.ts';
import { parseVerifierKey, signatureTypes, type VerifierKey } from '../tlog/note.ts';
import { equalHashes, type Hasher } from '../tlog/tree.ts';
import type { Policy, PolicyWitness, Rule } from './policy.ts';
import { strictUtf8 } from './utf8.ts';

export type PolicyFault =
  /** A control character other than tab and newline. */
  | 'bad_octet'
  /** A line that begins with none of the four keywords. */
  | 'unknown_line'
  /** Too few or too many items on a line. */
  | 'wrong_items'
  /** Not a verifier key, or not valid UTF-8. */
  | 'bad_key'
  /** A key of the wrong type: witnesses must have cosignature keys, logs must not. */
  | 'wrong_key_type'
  /** The same public key in two witness lines or two log lines, under any names. */
  | 'duplicate_key'
  /** Not an http(s) URL, or a URL with credentials, a query or a fragment. */
  | 'bad_url'
  /** `none`, which is predefined. */
  | 'reserved_name'
  | 'duplicate_name'
  /** A name that no earlier line defines. */
  | 'unknown_name'
  /** A name that already is a member of a group. */
  | 'member_twice'
  /** Not `all`, `any` or a decimal from 1 to the number of members. */
  | 'bad_threshold'
  | 'second_quorum'
  | 'no_quorum'
  /** Too many lines that begin with one keyword, or too many bytes. */
  | 'too_large';

/** A policy that is not valid. The message begins with the line; line 0 is the whole file. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
  readonly fault: PolicyFault;
  /** Number of the line, counted from 1; 0 for the whole file. */
  readonly line: number;

  constructor(fault: PolicyFault, line: number, message: string) {
    super(line === 0 ? message : `line ${line}: ${message}`);
    this.fault = fault;
    this.line = line;
  }

  /** Line and kind of the fault, without content of the file: `line 3: unknown line`. */
  get place(): string {
    const kind = this.fault.replaceAll('_', ' ');
    return this.line === 0 ? kind : `line ${this.line}: ${kind}`;
  }
}

/**
 * Parses a policy.
 *
 * @throws PolicyError for the first invalid line
 */
export function parsePolicy(sha256: Hasher, octets: Uint8Array): Policy {
  if (octets.length > limits.maxPolicyBytes) {
    throw new PolicyError('too_large', 0, `${octets.length} bytes; the limit is ${limits.maxPolicyBytes}`);
  }
  const reader = new PolicyReader(sha256);
  let line = 0;
  for (const text of latin1(octets).split('\n')) reader.read(text, ++line);
  return reader.policy();
}

class PolicyReader {
  readonly #sha256: Hasher;
  readonly #logs: { key: VerifierKey; url: string | undefined }[] = [];
  readonly #witnesses: PolicyWitness[] = [];
  /** Witnesses and groups by name, one character per octet. */
  readonly #named = new Map<string, Rule>();
  readonly #members = new Set<string>();
  #quorum: Rule | undefined;
  #line = 0;

  constructor(sha256: Hasher) {
    this.#sha256 = sha256;
  }

  read(text: string, line: number): void {
    this.#line = line;
    const control = [...text].find((char) => (char < ' ' && char !== '\t') || char === '\x7f');
    if (control !== undefined) {
      const code = control.charCodeAt(0).toString(16).padStart(2, '0');
      throw this.#fault('bad_octet', `control character 0x${code} is not allowed`);
    }
    const items = text.split(/[ \t]+/).filter((item) => item !== '');
    const [keyword, ...rest] = items;
    if (keyword === undefined || keyword.startsWith('#')) return;
    const define = this.#lines.get(keyword);
    if (define === undefined) {
      throw this.#fault(
        'unknown_line',
        `${show(keyword)} is not a keyword; use one of ${[...this.#lines.keys()].join(', ')}`,
      );
    }
    define(rest);
  }

  policy(): Policy {
    if (this.#quorum === undefined) throw new PolicyError('no_quorum', 0, 'missing quorum line');
    return { logs: this.#logs, witnesses: this.#witnesses, quorum: this.#quorum };
  }

  readonly #lines = new Map<string, (items: readonly string[]) => void>([
    ['log', (items) => this.#readLog(items)],
    ['witness', (items) => this.#readWitness(items)],
    ['group', (items) => this.#readGroup(items)],
    ['quorum', (items) => this.#readQuorum(items)],
  ]);

  #readLog(items: readonly string[]): void {
    const [vkey, url] = this.#checkCount(items, 1, 2);
    const key = this.#key(vkey!);
    if (key.type === signatureTypes.cosignature) {
      throw this.#fault('wrong_key_type', 'cosignature key; a log needs a key that signs checkpoints');
    }
    this.#checkUnique(key, this.#logs);
    this.#logs.push({ key, url: this.#url(url) });
  }

  #readWitness(items: readonly string[]): void {
    const [name, vkey, url] = this.#checkCount(items, 2, 3);
    const key = this.#key(vkey!);
    if (key.type !== signatureTypes.cosignature) {
      throw this.#fault('wrong_key_type', 'not a cosignature key; a witness needs a key of type 4');
    }
    this.#checkUnique(key, this.#witnesses);
    const witness = { name: decoded(name!), key, url: this.#url(url) };
    this.#define(name!, { kind: 'witness', witness });
    this.#witnesses.push(witness);
  }

  #readGroup(items: readonly string[]): void {
    const [name, threshold, ...members] = this.#checkCount(items, 3, Number.POSITIVE_INFINITY);
    this.#checkLineLimit(this.#named.size - this.#witnesses.length);
    const rules = members.map((member) => this.#member(member));
    this.#define(name!, { kind: 'group', threshold: this.#threshold(threshold!, rules), members: rules });
  }

  #readQuorum(items: readonly string[]): void {
    const [name] = this.#checkCount(items, 1, 1);
    if (this.#quorum !== undefined) throw this.#fault('second_quorum', 'duplicate quorum line');
    this.#quorum = name === 'none' ? { kind: 'group', threshold: 0, members: [] } : this.#rule(name!);
  }

  #checkCount(items: readonly string[], least: number, most: number): readonly string[] {
    if (items.length >= least && items.length <= most) return items;
    throw this.#fault('wrong_items', `wrong number of items after the keyword: ${items.length}`);
  }

  #key(vkey: string): VerifierKey {
    const text = strictUtf8(octetsOf(vkey));
    if (text === undefined) throw this.#fault('bad_key', 'verifier key is not valid UTF-8');
    try {
      return parseVerifierKey(this.#sha256, text);
    } catch (error) {
      if (!(error instanceof TlogError)) throw error;
      throw this.#fault('bad_key', `${show(vkey)} is not a valid verifier key: ${error.message}`);
    }
  }

  #checkUnique(key: VerifierKey, others: readonly { readonly key: VerifierKey }[]): void {
    if (others.some((other) => equalHashes(other.key.publicKey, key.publicKey))) {
      throw this.#fault('duplicate_key', `the public key of ${show(key.name)} is already in another line`);
    }
    this.#checkLineLimit(others.length);
  }

  #url(text: string | undefined): string | undefined {
    if (text === undefined) return undefined;
    const known = strictUtf8(octetsOf(text));
    const url = known !== undefined && URL.canParse(known) ? new URL(known) : undefined;
    const plain = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === '';
    if (!plain || !/^https?:$/.test(url.protocol)) {
      throw this.#fault('bad_url', `${show(text)} is not a plain http(s) URL`);
    }
    return url.href.replace(/\/+$/, '');
  }

  #define(name: string, rule: Rule): void {
    if (name === 'none') throw this.#fault('reserved_name', '"none" is predefined; choose another name');
    if (this.#named.has(name)) throw this.#fault('duplicate_name', `${show(name)} is already defined`);
    this.#named.set(name, rule);
  }

  #member(name: string): Rule {
    const rule = this.#rule(name);
    if (this.#members.has(name)) throw this.#fault('member_twice', `${show(name)} is already in a group`);
    this.#members.add(name);
    return rule;
  }

  #rule(name: string): Rule {
    const rule = this.#named.get(name);
    if (rule === undefined) throw this.#fault('unknown_name', `no earlier line defines ${show(name)}`);
    return rule;
  }

  #threshold(text: string, { length }: readonly Rule[]): number {
    if (text === 'all') return length;
    if (text === 'any') return 1;
    const k = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : 0;
    if (k >= 1 && k <= length) return k;
    throw this.#fault('bad_threshold', `${show(text)} must be all, any or a number from 1 to ${length}`);
  }

  #checkLineLimit(taken: number): void {
    if (taken >= limits.maxPolicyLines) {
      throw this.#fault('too_large', `more than ${limits.maxPolicyLines} lines of a kind`);
    }
  }

  #fault(fault: PolicyFault, message: string): PolicyError {
    return new PolicyError(fault, this.#line, message);
  }
}

/** Decodes one character per octet. */
function latin1(octets: Uint8Array): string {
  let text = '';
  for (const octet of octets) text += String.fromCharCode(octet);
  return text;
}

function octetsOf(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

const decoded = (text: string) => new TextDecoder().decode(octetsOf(text));

function show(text: string): string {
  const whole = JSON.stringify(decoded(text));
  return whole.length > 80 ? `${whole.slice(0, 77)}…` : whole;
}
