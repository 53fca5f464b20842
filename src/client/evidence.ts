import type { Binding } from '../tlog/binding.ts';
import { bindingField, evidenceFormat as format } from '../tlog/evidence.ts';
import { type Exact, hex, members, parseExact, safeInteger, string } from './exact-json.ts';
import { Fault } from './fault.ts';
import { type KeySet, readKeySet, writeKeys } from './key-set.ts';
import { readTreeHead, type SignedHead, writeTreeHead } from './tree-head.ts';
import { judge, type Verdict } from './verdict.ts';
import { readPath } from './verify.ts';

/** A file that an auditor keeps when a log contradicts itself; verdict.ts says what it proves. */
export interface Evidence {
  /** What the auditor found: a code of `faultCodes`, and its text. */
  readonly code: string;
  readonly message: string;
  readonly log: string;
  /** ISO 8601, by the auditor's clock. */
  readonly foundAt: string;
  readonly pinnedAt?: string;
  readonly pinnedHead?: SignedHead;
  readonly head?: SignedHead;
  /** The whole note. */
  readonly checkpoint?: string;
  /** Two checkpoints that a witness holds against each other, whole notes. */
  readonly checkpoints?: readonly string[];
  readonly binding?: Binding;
  /** What the log answered when it was asked for a consistency proof. */
  readonly answer?: string;
  /** As they were published when the head was pinned, and when the fault was found. */
  readonly pinnedKeys?: KeySet;
  readonly keys: KeySet;
}

/** What was found and what it proves, as evidence and those who report on it write it. */
export function evidenceFields(evidence: Evidence, { convicts, reason }: Verdict) {
  const { code, message, log, foundAt, pinnedAt } = evidence;
  return { convicts, reason, code, message, log, found_at: foundAt, pinned_at: pinnedAt };
}

/** One JSON object. `convicts` and `reason` are for people: readers derive them anew. */
export function writeEvidence(evidence: Evidence): string {
  const { checkpoint, checkpoints, answer, binding } = evidence;
  const about = JSON.stringify({
    format,
    ...evidenceFields(evidence, judge(evidence)),
    checkpoint,
    checkpoints,
    answer,
    ...bindingField(binding),
  });
  const parts = [
    evidence.pinnedHead === undefined ? '' : `,"pinned_head":${writeTreeHead(evidence.pinnedHead)}`,
    evidence.head === undefined ? '' : `,"head":${writeTreeHead(evidence.head)}`,
    evidence.pinnedKeys === undefined ? '' : `,"pinned_keys":${writeKeys(evidence.pinnedKeys.values())}`,
    `,"keys":${writeKeys(evidence.keys.values())}`,
  ];
  return `${about.slice(0, -1)}${parts.join('')}}\n`;
}

/** Whether the text says that it is evidence. */
export function looksLikeEvidence(text: string): boolean {
  return members(parseExact(text))?.format === format;
}

export function parseEvidence(text: string): Evidence | Fault {
  const fields = members(parseExact(text));
  if (fields?.format !== format) return malformed(`it has no "format": "${format}"`);
  const [code, message, log, foundAt] = [fields.code, fields.message, fields.log, fields.found_at].map(
    string,
  );
  if (code === undefined || message === undefined || log === undefined || foundAt === undefined)
    return malformed('code, message, log or found_at is missing');
  const keys = readKeySet(fields.keys);
  if (keys instanceof Fault) return keys;
  const parts = readParts({
    pinnedHead: [fields.pinned_head, readTreeHead],
    head: [fields.head, readTreeHead],
    pinnedKeys: [fields.pinned_keys, readKeySet],
    binding: [fields.proof, readBinding],
    checkpoint: [fields.checkpoint, textOf('checkpoint')],
    checkpoints: [fields.checkpoints, readCheckpoints],
    answer: [fields.answer, textOf('answer')],
    pinnedAt: [fields.pinned_at, textOf('pinned_at')],
  });
  return parts instanceof Fault ? parts : { code, message, log, foundAt, keys, ...parts };
}

type Readers = Readonly<Record<string, readonly [Exact | undefined, (json: Exact | undefined) => unknown]>>;
type Parts<R extends Readers> = { [N in keyof R]?: Exclude<ReturnType<R[N][1]>, Fault> };

/** What is there of these members, each read; the first fault. */
function readParts<R extends Readers>(readers: R): Parts<R> | Fault {
  const parts: Record<string, unknown> = {};
  for (const [name, [json, read]] of Object.entries(readers)) {
    if (json === undefined) continue;
    const value = read(json);
    if (value instanceof Fault) return value;
    parts[name] = value;
  }
  return parts as Parts<R>;
}

const textOf = (name: string) => (json: Exact | undefined) => string(json) ?? malformed(`${name} is no text`);

function readCheckpoints(json: Exact | undefined): string[] | Fault {
  const notes = Array.isArray(json) ? json.map(string) : [];
  const texts = notes.filter((note) => note !== undefined);
  return texts.length === 2 && notes.length === 2 ? texts : malformed('checkpoints are not two texts');
}

function readBinding(json: Exact | undefined): Binding | Fault {
  const fields = members(json);
  const firstSize = safeInteger(fields?.first_size);
  const secondSize = safeInteger(fields?.second_size);
  const firstRoot = hex(fields?.first_root, 32);
  if (firstSize === undefined || secondSize === undefined || firstRoot === undefined)
    return malformed('its proof has no sizes or no first root');
  const path = readPath(fields?.audit_path);
  return path instanceof Fault ? path : { firstSize, secondSize, firstRoot, path };
}

function malformed(reason: string): Fault {
  return new Fault('MALFORMED_EVIDENCE', `the evidence is malformed: ${reason}`);
}
